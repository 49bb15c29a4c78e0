() => {
  // What does not fit: a page wider than its window, text that is cut or leaves the window, things
  // that overlap, letters of a chart outside it or over each other. Told in words.
  const found = new Set();
  const main = document.querySelector("[data-testid=stMain]");
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const forEars = (element) => element.clientWidth === 1 && element.clientHeight === 1;
  const scrolls = (element) => {
    for (let box = element; box && box !== main; box = box.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(box).overflowX) && box.scrollWidth > box.clientWidth) return true;
    return false;
  };
  const short = (text) => `“${text.trim().replace(/\s+/g, " ").slice(0, 50)}”`;
  const meet = (one, other, room = 3) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > room &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > room;
  // A line of letters has some room above and below them.
  const rise = (one, other) => Math.max(3, 0.3 * Math.min(one.bottom - one.top, other.bottom - other.top));
  const inside = (box, frame) =>
    box.left >= frame.left - 1.5 && box.right <= frame.right + 1.5 && box.top >= frame.top - 1.5 && box.bottom <= frame.bottom + 1.5;

  for (const box of [document.scrollingElement, document.body, main])
    if (box.scrollWidth > box.clientWidth + 1)
      found.add(`${box.tagName} is wider than its window: ${box.scrollWidth} > ${box.clientWidth}`);

  // Tables and code scroll in boxes of their own; a slider's ends are shown below a pointer only.
  const aside = "[data-testid=stDataFrame], [data-testid=stTable], [data-testid=stCode], [data-testid=stIconMaterial], " +
    "[data-testid=stSliderTickBar], .fairfl-table, .tip, .unseen, style, script, noscript";
  const texts = [], pictures = [];
  const walk = (root, picture) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.closest(aside) || !seen(element) || forEars(element)) continue;
      const drawn = element.shadowRoot?.querySelector(".ff") ? element : element.closest(".js-plotly-plot");
      if (drawn === element) pictures.push({ box: element.getBoundingClientRect(), of: element });
      if (element.shadowRoot) walk(element.shadowRoot, element);
      for (const node of element.childNodes) {
        if (node.nodeType !== 3 || !node.textContent.trim()) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const frame = getComputedStyle(element).overflowX === "visible" ? null : element.getBoundingClientRect();
        for (const { left, right, top, bottom } of range.getClientRects()) {
          const box = frame ? { left: Math.max(left, frame.left), right: Math.min(right, frame.right), top, bottom } : { left, right, top, bottom };
          if (box.right - box.left > 1 && bottom - top > 1) texts.push({ box, element, text: node.textContent, picture: picture ?? drawn });
        }
      }
    }
  };
  walk(document.querySelector("[data-testid=stApp]"));

  for (const { element, text, picture } of texts) {
    if (element.namespaceURI.endsWith("svg")) continue;
    const style = getComputedStyle(element);
    const hides = ["hidden", "clip"].includes(style.overflowX) || style.textOverflow === "ellipsis";
    if (hides && element.clientWidth && element.scrollWidth > element.clientWidth + 1)
      found.add(`cut: ${short(text)} (${element.scrollWidth} > ${element.clientWidth})`);
    const { left, right } = element.getBoundingClientRect();
    if (!picture && element.clientWidth && (right > innerWidth + 1 || left < -1) && !scrolls(element)) found.add(`outside the window: ${short(text)}`);
  }

  // What lies over another: letters over letters, pictures over pictures, letters over a picture not theirs.
  // A header and what is fixed stay in place while the page scrolls below them: only what is in sight counts.
  const scrolled = (element) => main.contains(element) && main.scrollTop > 0;
  for (const [place, one] of texts.entries()) {
    if (one.element.closest(".scroll")) continue;
    for (const other of texts.slice(place + 1))
      if (one.element !== other.element && !other.element.closest(".scroll") && !scrolled(one.element) && meet(one.box, other.box, rise(one.box, other.box)))
        found.add(`overlap: ${short(one.text)} and ${short(other.text)}`);
    for (const picture of pictures)
      if (one.picture !== picture.of && meet(one.box, picture.box, 4) && !picture.of.contains(one.element))
        found.add(`over a picture: ${short(one.text)}`);
  }
  for (const [place, one] of pictures.entries())
    for (const other of pictures.slice(place + 1)) if (meet(one.box, other.box)) found.add("two pictures overlap");

  for (const { box, element, text, picture } of texts) {
    if (!picture || !element.namespaceURI.endsWith("svg")) continue;
    const rows = element.closest(".scroll"); // many rows are scrolled up and down, never aside
    const frame = picture.getBoundingClientRect();
    if (!inside(box, rows ? { left: frame.left, right: frame.right, top: -Infinity, bottom: Infinity } : frame)) found.add(`leaves its picture: ${short(text)}`);
  }
  return [...found];
}
