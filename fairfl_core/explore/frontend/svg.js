/* What both charts are drawn with. Nothing here knows of Streamlit, and data only become text nodes. */
const SVG = 'http://www.w3.org/2000/svg';
const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'];
const CHARTS = new WeakMap(); // by the place they are drawn in

/* The chart of this place, built at the first call. It is painted again when its size changes. */
function chartOf(root, build, paint) {
    const known = CHARTS.get(root);
    if (known) return known;
    const box = element('div', 'ff');
    root.append(box);
    const chart = { box, widths: new Map() };
    Object.assign(chart, build(chart));
    const observer = new ResizeObserver(() => {
        const { clientWidth, clientHeight } = chart.stage;
        if (chart.data && (chart.width !== clientWidth || chart.height !== clientHeight)) paint(chart);
    });
    observer.observe(chart.stage);
    document.fonts.ready.then(() => { chart.widths.clear(); if (chart.data) paint(chart); });
    chart.close = () => { observer.disconnect(); CHARTS.delete(root); box.remove(); };
    CHARTS.set(root, chart);
    return chart;
}

function element(tag, cls = '', text = '') {
    const made = document.createElement(tag);
    made.className = cls;
    made.textContent = text;
    return made;
}

/* Put marks into a parent by key: one that is there already is changed, so that it glides. */
function pen(parent) {
    const there = parent.there ??= new Map();
    const used = new Set();
    let last = null;
    const put = (key, tag, attributes, text) => {
        let node = there.get(key);
        if (!node) {
            node = document.createElementNS(parent.namespaceURI, tag);
            there.set(key, node);
        }
        const next = last ? last.nextSibling : parent.firstChild;
        if (node !== next) parent.insertBefore(node, next);
        change(node, attributes);
        if (text !== undefined && node.textContent !== text) node.textContent = text;
        used.add(key);
        return last = node;
    };
    put.rest = () => there.forEach((node, key) => { if (!used.has(key)) { node.remove(); there.delete(key); } });
    return put;
}

function change(node, attributes) {
    const said = node.said ??= {};
    for (const [name, value] of Object.entries(attributes)) {
        if (said[name] !== value) node.setAttribute(name, said[name] = value);
    }
}

function textWidth(chart, text, size, weight = 400) {
    const key = `${size} ${weight} ${text}`;
    if (!chart.widths.has(key)) {
        const probe = chart.probe ??= chart.svg.appendChild(document.createElementNS(SVG, 'text'));
        change(probe, { visibility: 'hidden', 'aria-hidden': 'true', 'font-size': size, 'font-weight': weight });
        probe.textContent = text;
        chart.widths.set(key, probe.getComputedTextLength());
        probe.textContent = '';
    }
    return chart.widths.get(key);
}

const textSize = (large, width, wide) => large ? 16 : width > wide ? 14 : 12;

function shortened(chart, text, size, room) {
    let shown = text;
    while (shown.length > 1 && textWidth(chart, shown, size) > room) shown = `${shown.replace(/…$/, '').slice(0, -1)}…`;
    return shown;
}

/* -------------------------------------------------------------------- beside a chart */

/* A tip with a bold first line, near a point of the chart and inside its box. */
function showTip(chart, lines, x, y) {
    const tip = chart.tip, room = chart.box.getBoundingClientRect();
    tip.replaceChildren(...lines.map((line, at) => element(at ? 'div' : 'b', '', line)));
    const { offsetWidth: width, offsetHeight: height } = tip;
    const left = x + 14 + width > room.width ? x - 14 - width : x + 14;
    const top = y + 12 + height > room.height ? y - 12 - height : y + 12;
    tip.style.left = `${Math.min(Math.max(left, 0), Math.max(room.width - width, 0))}px`;
    tip.style.top = `${Math.max(top, 0)}px`;
    tip.classList.add('shown');
}

const hideTip = chart => chart.tip.classList.remove('shown');

/* A line of words and samples, made anew only when they change: [kind of sample, text, colour]. */
function legend(chart, place, items) {
    const said = JSON.stringify(items);
    if (place.said === said) return;
    place.said = said;
    place.replaceChildren(...items.map(([kind, text, colour]) => {
        const item = element('span', kind === 'title' ? 'title' : 'item');
        if (kind === 'scale') {
            const bar = element('i', 'scale');
            bar.style.background = `linear-gradient(90deg, ${colour.join()})`;
            item.append(text[0], bar, text[1]);
            return item;
        }
        if (kind !== 'title' && kind !== 'text') item.append(sample(kind, colour));
        item.append(text);
        return item;
    }));
}

function sample(kind, colour) {
    const svg = document.createElementNS(SVG, 'svg'), put = pen(svg);
    change(svg, { width: 16, height: 12, 'aria-hidden': 'true' });
    if (colour) svg.style.setProperty('--c', colour);
    if (kind === 'band') put('a', 'rect', { class: 'band', x: 0, y: 0, width: 15, height: 12 });
    else if (kind === 'free') put('a', 'path', { class: 'free', d: 'M1 6H15' });
    else if (kind === 'interval') put('a', 'path', { class: 'interval', d: 'M2 6H14M2 3V9M14 3V9' });
    else if (kind === 'bar') put('a', 'rect', { class: 'bar', x: 1, y: 2, width: 13, height: 8 });
    else put('a', 'path', { class: `dot ${kind}`, d: dot(kind, 8, 6, 4.5) });
    return svg;
}

function dot(kind, x, y, r) {
    if (kind === 'above') return `M${x - 1.3 * r} ${y}L${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}Z`;
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

/* -------------------------------------------------------------------- numbers and colours */

function niceStep(span, count) {
    const raw = span / Math.max(count, 1), ten = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map(part => part * ten).find(step => step >= raw * .999);
}

function ticksOf(low, high, step) {
    const first = Math.ceil(low / step - 1e-6), last = Math.floor(high / step + 1e-6);
    return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(6)));
}

const people = n => n === 1 ? '1 person' : `${n.toLocaleString('en')} people`;
const percent = value => value === null ? '–' : `${value.toFixed(1)} %`;
const gapText = value => value === null ? '–' : value < .0005 ? '0' : value.toFixed(value < .00995 ? 3 : 2);
const limitText = limit => limit >= 1 ? 'none' : String(Number(limit.toPrecision(3)));
const moved = (before, after, text) => text(before) === text(after) ? `${text(after)}, no change` : `${text(before)} → ${text(after)}`;
function signed(value) {
    const size = Math.abs(value), text = size.toFixed(size < .095 ? 2 : 1);
    return Number(text) === 0 ? '0' : `${value < 0 ? '−' : '+'}${text}`;
}

const channels = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
function mixed(hexes, share) {
    const at = Math.min(Math.max(share, 0), 1) * (hexes.length - 1), low = Math.min(Math.floor(at), hexes.length - 2);
    const [from, to] = [channels(hexes[low]), channels(hexes[low + 1])];
    return from.map((part, k) => Math.round(part + (at - low) * (to[k] - part)));
}
/* Black or white, whichever is read better. */
function inkOn(parts) {
    const [r, g, b] = parts.map(part => part / 255 <= .04045 ? part / 3294.6 : ((part / 255 + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b > .179 ? '#000' : '#fff';
}
const rgb = parts => `rgb(${parts.join()})`;
