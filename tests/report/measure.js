// What a page looks like to a person: too wide, too small, too pale. The answer is written into the title of the page around.
(() => {
  const small = [], wide = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.getClientRects().length) continue;
    let size = parseFloat(getComputedStyle(element).fontSize);
    // Letters of a drawing grow and shrink with it.
    if (element instanceof SVGElement && element.getScreenCTM) {
      const m = element.getScreenCTM();
      size *= Math.hypot(m.a, m.b);
    }
    if (size < 9) small.push([element.textContent.trim().slice(0, 40), size]);
    const box = element.getBoundingClientRect();
    const picture = element.closest('svg');
    const frame = picture ? picture.getBoundingClientRect() : { left: 0, right: innerWidth };
    const scrolls = element.closest('.scroll, details');
    if (!scrolls && (box.left < frame.left - 2 || box.right > frame.right + 2))
      wide.push([element.textContent.trim().slice(0, 40), box.left, box.right]);
  }
  const measured = { small, wide, needed: document.documentElement.scrollWidth, available: innerWidth };
  const done = found => { parent.document.title = JSON.stringify({ ...measured, ...found }); };
  if (!window.axe) return done({});
  axe.run(document).then(found => done({
    violations: found.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 120)).slice(0, 3)]),
    passes: found.passes.map(one => one.id),
  }), error => done({ error: String(error) }));
})();
