() => {
  // What is wholly on the first screen: its pictures, and its words but for those drawn into pictures
  // and the heads of a picture that is a table, which are its axis labels.
  const words = [], ends = [], pictures = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const walk = (root, drawnAlready) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.closest("style, script, noscript, .unseen, [data-testid=stIconMaterial], #js-plotly-tester") || !seen(element)) continue;
      const box = element.getBoundingClientRect();
      if (box.width <= 1 && box.height <= 1) continue; // for ears only
      const drawn = element.shadowRoot?.querySelector(".ff") || element.matches(".js-plotly-plot, canvas, svg, img, .fairfl-picture");
      if (drawn && !drawnAlready && box.width >= 220 && box.height >= 180 && !element.parentElement?.closest(".js-plotly-plot"))
        pictures.push([Math.round(box.top), Math.round(box.bottom)]);
      if (element.shadowRoot) walk(element.shadowRoot, drawn);
      if (element.closest("svg, .fairfl-picture th")) continue;
      for (const node of element.childNodes) {
        if (node.nodeType !== 3) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const place = range.getBoundingClientRect();
        if (place.width > 1 && place.height > 1 && place.top >= 0 && place.bottom <= innerHeight && place.left < innerWidth)
          for (const word of node.textContent.split(/\s+/).filter((word) => /[A-Za-z]{2}/.test(word))) {
            words.push(word);
            if (!element.closest("[data-testid=stHeader], .st-key-frame-tools")) ends.push(place.bottom);
          }
      }
    }
  };
  walk(document.body);
  const main = document.querySelector("[data-testid=stMain]");
  const first = Math.min(...pictures.map(([top]) => top));
  return {
    words: words.length,
    above: ends.filter((bottom) => bottom <= first + 2).length,
    said: words.join(" "),
    first,
    whole: pictures.filter(([top, bottom]) => top >= 0 && bottom <= innerHeight + 2).length,
    lowest: Math.max(0, ...pictures.map(([, bottom]) => bottom)),
    height: main.scrollHeight,
  };
}
