() => {
  // What does not fit: text that is cut, a page wider than its window, letters of a chart outside
  // it or over each other, a legend inside a picture. Told in words.
  const found = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const words = (element) => element.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const main = document.querySelector("[data-testid=stMain]");

  for (const box of [document.scrollingElement, document.body, main])
    if (box.scrollWidth > box.clientWidth + 1)
      found.push(`${box.tagName} is wider than its window: ${box.scrollWidth} > ${box.clientWidth}`);

  // Text in a box that hides what is too long. Tables and code scroll in boxes of their own.
  const scrolls = "[data-testid=stDataFrame], [data-testid=stTable], [data-testid=stCode], .js-plotly-plot, svg, style, script";
  for (const element of main.querySelectorAll("*")) {
    if (element.closest(scrolls) || !seen(element)) continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    const hides = ["hidden", "clip"].includes(style.overflowX) || style.textOverflow === "ellipsis";
    if (own && hides && element.scrollWidth > element.clientWidth + 1)
      found.push(`cut: “${words(element)}” (${element.scrollWidth} > ${element.clientWidth})`);
    if (own && element.clientWidth && style.position !== "fixed") {
      const { left, right } = element.getBoundingClientRect();
      if (right > innerWidth + 1 || left < -1) found.push(`outside the window: “${words(element)}”`);
    }
  }

  // A line of letters has some room above and below them.
  const apart = (one, other) =>
    one.right <= other.left + 3 || other.right <= one.left + 3 || one.bottom <= other.top + 3 || other.bottom <= one.top + 3;
  for (const chart of main.querySelectorAll(".js-plotly-plot")) {
    if (!seen(chart)) continue;
    const name = chart.closest("[data-testid=stElementContainer]")?.className.match(/st-key-([\w-]+)/)?.[1] ?? "a chart";
    const frame = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll(".xtitle, .ytitle, .xtick text, .ytick text, .x2title, .y2title")) {
      const box = text.getBoundingClientRect();
      if (box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1))
        found.push(`${name}: “${words(text)}” leaves the picture`);
    }
    for (const axis of ["xaxislayer-above", "yaxislayer-above"]) {
      for (const layer of chart.querySelectorAll(`.${axis}`)) {
        const upright = [...layer.querySelectorAll("text")].filter(
          (text) => words(text) && !/rotate\((?!0[,)]|-?90|-?0)/.test(text.getAttribute("transform") ?? ""));
        upright.slice(1).forEach((text, place) => {
          if (!apart(upright[place].getBoundingClientRect(), text.getBoundingClientRect()))
            found.push(`${name}: “${words(upright[place])}” and “${words(text)}” overlap`);
        });
      }
    }
    if (chart.querySelector(".legend .traces")) found.push(`${name}: a legend inside the picture`);
  }
  return found;
}
