"""Kernels as narrow, and landmarks as many, as what a fit misses asks for.

What a kernel smooths over, and what lies between its landmarks, stays in the residuals of X and of Y alike
and looks like dependence. So narrower kernels are tried where neighbouring rows are missed alike, rougher
ones in their place, and more landmarks where a kernel uses up those it has.
"""

from __future__ import annotations

import numpy as np

from .candidates import Candidates
from .learning import neighbours_agree
from .maps import GaussianFeatures
from .selection import SmootherFit, better, clearly_less, select, unless_beaten
from .smoother import PENALTIES, Smoother
from .sums import SumOfMaps

__all__ = ["ROUNDING", "NarrowKernels"]

ROUNDING = 1e-12  # a share of the variance this small is no miss of the fit
_SCALES = (0.2, 0.1, 0.04, 0.015)  # by hand: of the median distance, tried in turn while they help
_LANDMARKS = {1: 300, 2: 700, 3: 700}  # by columns; with more, no rows fill narrow neighbourhoods
_DENSE_LANDMARKS = 1500  # by hand: of the narrow kernel that was chosen: beyond, its time is felt
_ROUGH_WIDTH = 2.0  # by hand: times that of the Gaussian kernel whose place Matérn's would take
_NARROWER = 0.6  # by hand: likewise of a Gaussian one along a line: rather too fine than too wide
_AGREEMENT = 2.0  # by hand: standard errors by which misses of neighbours agree if kernels are too wide
_MANY_FUNCTIONS = 60  # degrees of freedom, by hand: smooth functions of up to three columns take half as many
_USED_UP = 0.5  # by hand: share of the landmarks beyond which a kernel has too few of them
_MORE_LANDMARKS = 1000  # by hand: of such a kernel in many columns
_KEPT_CELLS = 20_000_000  # of the features of narrow kernels that are kept for what Z explains next: 160 MB


class NarrowKernels(Candidates):
    """Candidates on some rows of Z, and narrower, rougher and denser kernels than these."""

    def _missed(self, smoother: Smoother, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return what a fit misses of each row, times its weight: by that alone its mean given Z is zero."""
        missed = smoother.leave_one_out(targets, penalty)
        weights = None if self._design is None else self._design.weights
        return missed if weights is None else missed * weights[:, None]

    def _narrowed(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Try narrower and rougher kernels where what the fit misses is alike in neighbouring rows."""
        landmarks = _LANDMARKS.get(self.z.shape[1])
        if landmarks is None or chosen.loss < ROUNDING:
            return chosen
        missed = self._missed(chosen.smoother, targets, chosen.best_penalty)
        places = self.z @ self._factor
        if not self._may_be_rough(chosen, neighbours_agree(places, missed, self.base[0].codes)):
            return chosen
        width = None
        for scale in _SCALES:
            narrower = self._narrow(scale, landmarks)
            challenger = better(chosen, narrower, targets)
            if not clearly_less(challenger.row_losses, chosen.row_losses):
                break
            chosen, width = challenger, scale
        if width is None:
            width = min(self._scales())
            challenger = better(chosen, self._rough(width, landmarks), targets)
            if challenger is chosen or len(self.z) <= landmarks:
                return challenger
            chosen = challenger
        # What fewer landmarks and a smoother kernel miss stays on both sides: they have to be clearly better.
        rough = _unless_worse(chosen, self._rough(width, _DENSE_LANDMARKS), targets)
        if rough is not chosen or self.z.shape[1] > 1:
            return rough
        return _unless_worse(chosen, self._narrow(_NARROWER * width, _DENSE_LANDMARKS), targets)

    def _may_be_rough(self, chosen: SmootherFit, agreement: float) -> bool:
        """Tell whether the fit is at the end of what it can, or misses neighbouring rows alike."""
        at_the_end = chosen.smoother.feature_map is not None and chosen.best_penalty == PENALTIES[0]
        return at_the_end or agreement > _AGREEMENT or chosen.adaptive_degrees_of_freedom > _MANY_FUNCTIONS

    @property
    def _factor(self) -> np.ndarray:
        return np.eye(self.z.shape[1]) if self._frame is None else self._frame

    def _rough(self, width: float, landmarks: int) -> list[Smoother]:
        """Return Matérn's kernel in place of a Gaussian one of this width."""
        return self._narrow(_ROUGH_WIDTH * width, landmarks, rough=True)

    def _narrow(self, width: float, landmarks: int, *, rough: bool = False) -> list[Smoother]:
        """Return a kernel of this width; the last ones made are kept, for X and Y may both ask for them."""
        key = (width, landmarks, rough)
        if key not in self._narrow_kernels:
            name = f"{'rough' if rough else 'gaussian'}({width:g})"
            made = self._gaussian_smoother(self._factor, width, name, landmarks, rough)
            self._narrow_kernels[key] = made
            while len(self._narrow_kernels) > 1 and self._kept_cells() > _KEPT_CELLS:
                del self._narrow_kernels[next(iter(self._narrow_kernels))]
        return self._narrow_kernels[key]

    def _kept_cells(self) -> int:
        kept = [smoother for made in self._narrow_kernels.values() for smoother in made]
        return sum(smoother.n * smoother.eigenvalues.size for smoother in kept)

    def _allow_kinks(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let Matérn's kernel, if clearly better, replace a Gaussian one: a maximum of columns has kinks.

        Along a single column kernels may be as narrow as it takes.
        """
        gaussian = _kernel_of(chosen.smoother)
        if gaussian is None or gaussian.rough or self.z.shape[1] < 2:
            return chosen
        kinked = self._with_kernel(chosen.smoother, gaussian.with_kinks(_ROUGH_WIDTH), " with kinks")
        return unless_beaten(chosen, [kinked], targets)

    def _densified(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Give a kernel that uses up its landmarks more of them."""
        gaussian = _kernel_of(chosen.smoother)
        if gaussian is None:
            return chosen
        count = len(gaussian.landmarks)
        if count >= min(_MORE_LANDMARKS, len(self.z)):
            return chosen
        if chosen.adaptive_degrees_of_freedom < _USED_UP * count:
            return chosen
        rng = np.random.default_rng(self._seed)  # as for all other landmarks
        dense = gaussian.with_landmarks(self.z, _MORE_LANDMARKS, rng)
        return _unless_worse(chosen, [self._with_kernel(chosen.smoother, dense)], targets)

    def _with_kernel(self, smoother: Smoother, kernel: GaussianFeatures, label: str = "") -> Smoother:
        """Return the smoother with this kernel in place of its own."""
        used, name = smoother.feature_map, smoother.name + label
        if not isinstance(used, SumOfMaps):
            return self._smoother(kernel, name)
        return self._sum((used.first, kernel), (used.first(self.z), kernel(self.z)), name)


def _kernel_of(smoother: Smoother) -> GaussianFeatures | None:
    """Return the kernel that a smoother uses, alone or beside another map."""
    used = smoother.feature_map
    kernel = used.second if isinstance(used, SumOfMaps) else used
    return kernel if isinstance(kernel, GaussianFeatures) else None


def _unless_worse(chosen: SmootherFit, finer: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Return the finer fit unless it is clearly worse."""
    if not any(len(smoother.admissible_penalties()) for smoother in finer):
        return chosen
    challenger = select(finer, targets)
    return chosen if clearly_less(chosen.row_losses, challenger.row_losses) else challenger
