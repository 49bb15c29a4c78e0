() => {
  // What is hard to read: letters too close in brightness to what is behind them (WCAG 2, 1.4.3),
  // and lines of charts that hardly differ from their ground (1.4.11). Told in words.
  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = (colour.match(/[\d.]+(e-\d+)?/g) ?? [0, 0, 0, 0]).map(Number);
    const unit = colour.startsWith("color(srgb") ? 255 : 1; // what color-mix() becomes
    return { red: unit * red, green: unit * green, blue: unit * blue, alpha };
  };
  const over = (top, ground) => ({
    red: top.red * top.alpha + ground.red * (1 - top.alpha),
    green: top.green * top.alpha + ground.green * (1 - top.alpha),
    blue: top.blue * top.alpha + ground.blue * (1 - top.alpha),
    alpha: 1,
  });
  const bright = ({ red, green, blue }) => {
    const linear = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ratio = (one, other) => {
    const [low, high] = [bright(one), bright(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const above = (element) => element.parentElement ?? element.getRootNode().host;
  const groundOf = (element) => {
    const layers = [];
    for (let box = element; box; box = above(box)) {
      const layer = parse(getComputedStyle(box).backgroundColor);
      if (layer.alpha) layers.push(layer);
      if (layer.alpha === 1) break;
    }
    return layers.reverse().reduce((ground, layer) => over(layer, ground), parse("rgb(255, 255, 255)"));
  };
  const opacityOf = (element) => {
    let opacity = 1;
    for (let box = element; box; box = above(box)) opacity *= Number(getComputedStyle(box).opacity);
    return opacity;
  };
  const words = (element) => element.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const found = new Set();

  // A slider's value stands above its thumb, whose colour is not behind it. Tables are canvases. What is
  // written onto a coloured tile has its own ground.
  const aside = "style, script, .js-plotly-plot, [disabled], [aria-disabled=true], [data-testid=stSliderThumbValue], " +
    "[data-testid=stDataFrame], .tip, .on-tile, .letter";
  const read = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) read(element.shadowRoot);
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!own || element.closest(aside) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      const ink = parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
      ink.alpha *= opacityOf(element);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
      const contrast = ratio(over(ink, ground), ground);
      if (contrast < (large ? 3 : 4.5)) found.add(`“${words(element)}” has a contrast of ${contrast.toFixed(1)}`);
    }
  };
  read(document.querySelector("[data-testid=stApp]"));

  for (const chart of document.querySelectorAll("[data-testid=stMain] .js-plotly-plot")) {
    const name = chart.closest("[data-testid=stElementContainer]")?.className.match(/st-key-([\w-]+)/)?.[1] ?? "a chart";
    const ground = groundOf(chart);
    for (const text of chart.querySelectorAll(".xtick text, .ytick text, .xtitle, .ytitle, .annotation-text")) {
      const ink = parse(getComputedStyle(text).fill);
      const contrast = ratio(over(ink, ground), ground);
      if (words(text) && contrast < 4.5) found.add(`${name}: “${words(text)}” has a contrast of ${contrast.toFixed(1)}`);
    }
    for (const line of chart.querySelectorAll(".js-line, .errorbar path")) {
      const style = getComputedStyle(line);
      const ink = parse(style.stroke);
      ink.alpha *= Number(style.strokeOpacity) * opacityOf(line);
      const contrast = ratio(over(ink, ground), ground);
      if (parseFloat(style.strokeWidth) && contrast < 2) found.add(`${name}: a line (${style.stroke}) has a contrast of ${contrast.toFixed(1)}`);
    }
  }
  return [...found];
}
