"""The page of a study, from its committed p-values and from a store that `spectralcit bench run` wrote.

    python benchmarks/page.py calibration --store calibration.sqlite    # docs/calibration.md, README.md
    python benchmarks/page.py attack --store attack.sqlite              # docs/attack.md, README.md
    python benchmarks/page.py attack_rivals --store attack_rivals.sqlite  # only keeps the p-values
    python benchmarks/page.py classical --store classical.sqlite        # results/classical_calibration.*
    python benchmarks/page.py resampling                                # results/resampling_tests.md
    python benchmarks/page.py generative                                # results/generative_tests.md
    python benchmarks/page.py real --store real.sqlite                  # docs/real-data.md

Cells of the store replace those of ``results/NAME_pvalues.csv``; without ``--store`` the page is made from
that file alone. A study of several days: stores are not committed, so begin each day with

    python benchmarks/page.py attack --begin attack.sqlite --seed 960000   # a store of the p-values so far
    python benchmarks/page.py attack --begin attack.sqlite --seed 960000 --again .03 .1  # without these
"""

from __future__ import annotations

import argparse
from pathlib import Path

import attack_page
import calibration_page
import real_page
import study_tables
from study import begin_store, read_study

WRITERS = {  # by the names of the suites
    "attack": attack_page.write,
    "calibration": calibration_page.write,
    "attack_rivals": lambda study: print(f"{len(study.cells)} cells kept; now: page.py attack"),
    "classical": study_tables.write_classical,
    "resampling": study_tables.write_resampling,
    "generative": study_tables.write_generative,
    "real": real_page.write,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=WRITERS)
    parser.add_argument("--store", type=Path, help="file of `spectralcit bench run`")
    parser.add_argument("--begin", type=Path, help="make this store from the committed p-values, no page")
    parser.add_argument(
        "--again",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="with --begin: p-values to run again, after a change that moves them by little",
    )
    parser.add_argument("--seed", type=int, help="as given to `bench run`, if it was")
    options = parser.parse_args()
    if options.begin is not None:
        count = begin_store(options.study, options.begin, options.seed, options.again)
        print(f"{count} replicates put into {options.begin}")
        return
    study = read_study(options.study, options.store, options.seed)
    if options.study == "real" and options.store is not None:
        real_page.keep_versions(options.store, study.suite)
    WRITERS[options.study](study)


if __name__ == "__main__":
    main()
