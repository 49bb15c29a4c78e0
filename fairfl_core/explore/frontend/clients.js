/* Each client before and after: rows where there are few, columns where there are many, or tiles.
   emit('client', name) after a click or Enter on one. */
const GROUPS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#9467bd', '#a89a00'];
const SHADES = ['#e4eef6', '#9dbbd6', '#4f7fae', '#1f4a82', '#00224e'];
const STATES = [
    'AK . . . . . . . . . . ME', '. . . . . . . . . . VT NH', '. WA ID MT ND MN IL WI MI NY RI MA', '. OR NV WY SD IA IN OH PA NJ CT .',
    '. CA UT CO NE MO KY WV VA MD DE .', '. . AZ NM KS AR TN NC SC DC . .', '. . . . OK LA MS AL GA . . .', 'HI . . . TX . . . . FL . PR',
].flatMap((row, y) => row.split(' ').map((name, x) => [name, [x, y]]));
const ROWS = 12; // clients, more are columns

function drawClients(root, data, emit) {
    const chart = chartOf(root, buildClients, paintClients);
    const kind = `${data.view} ${data.label ?? data.axis} ${data.clients.map(client => client.name)}`;
    if (chart.kind !== kind) Object.assign(chart, { kind, range: null, focused: null });
    Object.assign(chart, { data, emit });
    paintClients(chart);
    return chart.close;
}

function buildClients(chart) {
    const [head, stage, scroll, tip] = [element('div', 'head'), element('div', 'stage'), element('div', 'scroll'), element('div', 'tip')];
    const svg = document.createElementNS(SVG, 'svg'), axis = document.createElementNS(SVG, 'svg');
    const [back, marks] = ['g', 'g'].map(tag => svg.appendChild(document.createElementNS(SVG, tag)));
    change(svg, { role: 'group' });
    change(axis, { class: 'axis', 'aria-hidden': 'true' });
    change(back, { 'aria-hidden': 'true' });
    scroll.append(svg);
    stage.append(scroll, axis);
    chart.box.append(head, stage, tip);

    const clientOf = event => event.target.closest?.('.client')?.client;
    svg.onpointermove = event => {
        const client = clientOf(event), box = chart.box.getBoundingClientRect();
        if (client) showTip(chart, linesOf(chart.data, client), event.clientX - box.left, event.clientY - box.top);
        else hideTip(chart);
    };
    svg.onpointerleave = () => hideTip(chart);
    svg.onclick = event => {
        const client = clientOf(event);
        if (client && !chart.data.still) chart.emit('client', client.name);
    };
    // Of the place around the svg: Chromium stops at an svg that listens for focus.
    scroll.addEventListener('focusin', event => {
        const client = clientOf(event);
        if (!client) return;
        chart.focused = client.name;
        rove(chart);
        const [box, own] = [chart.box, event.target].map(node => node.getBoundingClientRect());
        if (event.target.matches(':focus-visible')) showTip(chart, linesOf(chart.data, client), own.left + own.width / 2 - box.left, own.top + own.height / 2 - box.top);
    });
    scroll.addEventListener('focusout', () => hideTip(chart));
    svg.onkeydown = event => {
        const client = clientOf(event);
        if (!client) return;
        if (event.key === 'Enter' || event.key === ' ') chart.data.still || chart.emit('client', client.name);
        else if (event.key === 'Escape') hideTip(chart);
        else if (event.key.startsWith('Arrow')) neighbour(chart, event.target, event.key)?.focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    return { head, stage, scroll, tip, svg, axis, back, marks };
}

/* One of the clients is reached by Tab, the others from it by arrows. */
function rove(chart) {
    const all = [...chart.marks.children], chosen = all.find(node => node.client.name === chart.focused) ?? all[0];
    for (const node of all) change(node, { tabindex: node === chosen ? 0 : -1 });
}

function neighbour(chart, from, key) {
    const middle = node => { const box = node.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; };
    const [x, y] = middle(from), way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const far = node => {
        const [a, b] = middle(node), along = (a - x) * way[0] + (b - y) * way[1], across = Math.abs((a - x) * way[1]) + Math.abs((b - y) * way[0]);
        return along > 1 ? along + 3 * across : Infinity;
    };
    const nearest = [...chart.marks.children].reduce((best, node) => far(node) < far(best) ? node : best, from);
    return nearest === from ? null : nearest;
}

/* The lines of a client's tooltip. */
function linesOf({ view, groups }, client) {
    const head = `${client.name} · ${people(client.n)}`;
    if (view === 'price') return [head, client.points === null ? 'cannot be told' : `${signed(client.points)} points of accuracy`];
    if (view === 'found') {
        return [head, ...client.groups.map((own, k) => own.after === null ? `${groups[k]}: nobody to find`
            : `${groups[k]}: ${moved(own.before, own.after, percent)} of ${people(own.n)}${own.sure ? '' : ' (may be chance)'}`)];
    }
    if (client.after === null) return [head, 'the gap cannot be told'];
    return [head, `gap ${moved(client.before, client.after, gapText)}`,
        ...(client.low === null ? [] : [`95 %: ${gapText(client.low)} to ${gapText(client.high)}${client.within ? ', may be chance' : ''}`]),
        client.asked >= 1 ? 'no limit' : `allowed ${limitText(client.asked)}${client.above ? ': above, beyond chance' : ''}`];
}

function legendOf({ view, groups, label, axis, note, clients }, top, columns) {
    const some = flag => clients.some(client => client[flag]);
    const rest = note ? [['text', note]] : [];
    const over = some('above') ? [['above', 'above the limit']] : [];
    if (view === 'map') return [['scale', ['gap after: 0', `${gapText(top)} and more`], SHADES], ...over, ...rest];
    if (view === 'price') return [['text', 'points of accuracy'], ['bar', 'loses', 'var(--over)'], ['bar', 'gains', 'var(--now)'], ...rest];
    if (view === 'found') {
        return [...groups.map((name, k) => ['now', name, GROUPS[k % GROUPS.length]]), ['was', 'before'],
            ...(clients.some(client => client.groups.some(own => !own.sure && own.after !== null)) ? [['within', 'may be chance', 'var(--ink)']] : []),
            ['text', `“${label}” found`], ...rest];
    }
    return [['was', 'before'], ['now', 'after'], ...(some('within') ? [['within', 'after, may be chance']] : []), ...over,
        ...(clients.some(client => client.low !== null) ? [['interval', '95 %']] : []),
        ...(clients.some(client => client.asked < 1) ? [['band', 'allowed']] : []), ...(columns ? [['text', axis]] : []), ...rest];
}

/* -------------------------------------------------------------------- where everything stands */

/* The ends of the axis. They only grow while the same clients are shown, so that nothing jumps. */
function rangeOf(chart) {
    const { view, clients } = chart.data;
    const known = values => values.filter(value => value !== null && value !== undefined);
    let low = 0, high;
    if (view === 'found') {
        const all = known(clients.flatMap(client => client.groups.flatMap(own => [own.before, own.after])));
        [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 100];
        const step = niceStep(Math.max(high - low, 8), 4);
        low = Math.max(0, Math.floor((low - step / 8) / (step / 4)) * step / 4);
        high = Math.min(100, Math.ceil((high + step / 8) / (step / 4)) * step / 4);
    } else if (view === 'price') {
        const all = known(clients.map(client => client.points));
        [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
        if (high - low < 2) high > -low ? high = low + 2 : low = high - 2;
        [low, high] = [low * 1.04, high * 1.04];
    } else {
        const most = Math.max(.04, ...known(clients.flatMap(client => [client.before, client.after, client.asked < 1 ? client.asked : 0])));
        high = Math.max(most * 1.03, Math.min(most * 1.25, Math.max(0, ...known(clients.map(client => client.high)))));
        const step = niceStep(high, 4) / 4;
        high = Math.min(1, Math.ceil(high / step) * step);
    }
    const before = chart.range ?? [low, high];
    return chart.range = [Math.min(low, before[0]), Math.max(high, before[1])];
}

function paintClients(chart) {
    if (chart.stage.clientWidth < 1) return; // not on the screen yet, or no longer
    const { data, stage, svg } = chart;
    change(svg, { 'aria-label': data.spoken });
    const [low, high] = rangeOf(chart);
    const size = textSize(data.large, stage.clientWidth, 800), names = data.clients.map(client => client.name);
    const strong = data.clients.some(client => client.alarm || client.above);
    const widest = Math.max(0, ...names.map(name => textWidth(chart, name, size, 700)));
    const columns = data.view !== 'map' && names.length > ROWS ? columnsOf(stage, names.length, widest, size) : null;
    chart.box.style.fontSize = `${size}px`;
    legend(chart, chart.head, legendOf(data, Math.min(high, .25), columns));
    chart.width = stage.clientWidth;
    chart.height = stage.clientHeight;
    const frame = { low, high, size, widest, sign: strong ? 1.2 * size : 0, width: chart.width, height: chart.height };
    if (data.view === 'map') paintTiles(chart, frame);
    else if (columns) paintColumns(chart, { ...frame, ...columns });
    else paintRows(chart, frame);
    rove(chart);
}

/* How names stand below columns, in up to three lines or on end; null where there is no room. */
function columnsOf({ clientWidth, clientHeight }, n, widest, size) {
    const left = size * 3.2, cross = (clientWidth - left - Math.min(widest / 2, 16)) / n, lines = Math.ceil((widest + 5) / cross);
    if (lines <= 3 && cross > 8) return { left, cross, lines };
    return cross > size && widest < .4 * clientHeight ? { left, cross, lines: 0 } : null;
}

function paintRows(chart, frame) {
    const { data } = chart, { low, high, size, widest, sign, width, height } = frame, n = data.clients.length;
    const stacked = width < 480 || widest + sign > .38 * width, above = stacked ? Math.round(size * 1.5) : 0;
    const tracks = data.view === 'found' ? data.groups.length : 1, price = data.view === 'price', wide = size / 12;
    const counts = Math.max(0, ...data.clients.map(client => textWidth(chart, people(client.n), data.large ? 16 : size - 1)));
    const names = Math.max(widest + sign, counts);
    const foot = price || data.view === 'found' ? size + 10 : 2 * size + 16;
    const cap = above + wide * (tracks > 1 ? 40 * tracks + 60 : 120), least = above + wide * (tracks > 1 ? 13 * tracks + 9 : stacked ? 18 : 24);
    const step = Math.floor(Math.max(least, Math.min(cap, (height - foot) / n))), total = step * n;
    const shown = Math.min(total, height - foot);
    const sides = price ? size * 3.6 : 10, left = (stacked ? 4 : Math.ceil(names) + 14) + sides * (price && low < 0 ? 1 : stacked ? 1 : 0), right = Math.max(sides, 16);
    chart.scroll.style.height = `${shown}px`;
    const room = chart.scroll.clientWidth || width; // less a scroll bar
    change(chart.svg, { width: room, height: total });
    const span = Math.max(room - left - right, 40);
    const at = value => left + span * (Math.min(Math.max(value, low), high) - low) / (high - low);
    const ticks = ticksOf(low, high, niceStep(high - low, Math.min(6, span / (size * 5)))), tick = tickText(data.view, ticks);
    change(chart.axis, { width: room, height: foot });
    chart.axis.style.top = `${shown}px`;
    const put = pen(chart.back), foots = pen(chart.axis);
    const inside = (text, x) => { const half = textWidth(chart, text, size) / 2; return Math.max(half, Math.min(x, room - half)); };
    for (const value of ticks) {
        put(`r${value}`, 'rect', { class: value === 0 ? 'rule zero' : 'rule', x: Math.round(at(value)), y: 0, width: 1, height: total });
        foots(`t${value}`, 'text', { class: 'tick', x: inside(tick(value), at(value)), y: size + 4, 'text-anchor': 'middle', 'font-size': size }, tick(value));
    }
    if (data.view === 'gaps') {
        const title = shortened(chart, data.axis, size, room);
        foots('title', 'text', { class: 'tick', x: inside(title, left + span / 2), y: 2 * size + 9, 'text-anchor': 'middle', 'font-size': size }, title);
    }
    put.rest();
    foots.rest();
    const counted = !stacked && step > 2 * size + 8;
    eachClient(chart, (client, mark, k) => {
        const start = k * step, middle = start + above + (step - above) / 2, strong = client.alarm || client.above;
        mark('hit', 'rect', { class: 'hit', x: 1.5, y: start + 1, width: room - 3, height: step - 2, rx: 4 });
        const name = strong ? `${client.alarm ? '▼' : '◆'} ` : '', ink = { class: `name${strong ? ' strong' : ''}${stacked ? ' halo' : ''}`, 'font-size': size };
        if (stacked) {
            const own = shortened(chart, client.name, size, room - textWidth(chart, name + people(client.n), size) - 24);
            mark('name', 'text', { ...ink, x: 4, y: start + size + 3, 'text-anchor': 'start' }, name + own);
            mark('n', 'text', { class: 'tick halo', x: 4 + textWidth(chart, name + own, size, strong ? 700 : 400) + 8, y: start + size + 3, 'text-anchor': 'start', 'font-size': data.large ? 16 : size - 1 }, people(client.n));
        } else {
            mark('name', 'text', { ...ink, x: names + 4, y: middle + (counted ? -2 : size * .36), 'text-anchor': 'end' }, client.name);
            if (strong) mark('strong', 'text', { ...ink, x: names - textWidth(chart, client.name, size, 700), y: middle + (counted ? -2 : size * .36), 'text-anchor': 'end' }, name.trim());
            if (counted) mark('n', 'text', { class: 'tick', x: names + 4, y: middle + size, 'text-anchor': 'end', 'font-size': data.large ? 16 : size - 1 }, people(client.n));
        }
        const place = {
            size, at, middle, start: start + above, step: step - above, dot: wide * (step - above > 34 ? 5.5 : 4.5),
            point: (value, cross) => [at(value), cross],
            bar: (from, to, cross, thick) => ({ x: Math.min(at(from), at(to)), y: cross - thick / 2, width: Math.abs(at(to) - at(from)), height: thick }),
            line: (value, from, to) => `M${at(value)} ${from}V${to}`,
        };
        marksOf(client, mark, place, chart, true);
    });
}

function paintColumns(chart, frame) {
    const { data } = chart, { low, high, size, widest, width, height, left, cross, lines } = frame;
    const foot = lines ? lines * (size + 2) + 8 : widest + 14, top = 6, span = Math.max(height - foot - top, 40);
    const at = value => top + span * (1 - (Math.min(Math.max(value, low), high) - low) / (high - low));
    const ticks = ticksOf(low, high, niceStep(high - low, Math.min(6, span / (size * 3)))), tick = tickText(data.view, ticks);
    chart.scroll.style.height = `${height}px`;
    change(chart.svg, { width, height });
    change(chart.axis, { width: 0, height: 0 });
    const put = pen(chart.back);
    for (const value of ticks) {
        put(`c${value}`, 'rect', { class: value === 0 ? 'rule zero' : 'rule', x: left, y: Math.round(at(value)), width: cross * data.clients.length, height: 1 });
        put(`d${value}`, 'text', { class: 'tick', x: left - 6, y: at(value) + size * .36, 'text-anchor': 'end', 'font-size': size }, tick(value));
    }
    put.rest();
    eachClient(chart, (client, mark, k) => {
        const start = left + k * cross, middle = start + cross / 2, strong = client.alarm || client.above;
        mark('hit', 'rect', { class: 'hit', x: start, y: 1.5, width: cross, height: height - 3, rx: 3 });
        const ink = { class: strong ? 'name strong' : 'name', 'font-size': size };
        if (lines) mark('below', 'text', { ...ink, x: middle, y: top + span + size + 3 + (k % lines) * (size + 2), 'text-anchor': 'middle' }, client.name);
        else mark('end', 'text', { ...ink, transform: `translate(${middle + size * .36} ${top + span + 7}) rotate(-90)`, 'text-anchor': 'end' }, client.name);
        const place = {
            size, at, middle, start, step: cross, dot: Math.min(5, Math.max(3, cross / 4)),
            point: (value, x) => [x, at(value)],
            bar: (from, to, x, thick) => ({ x: x - thick / 2, y: Math.min(at(from), at(to)), width: thick, height: Math.abs(at(to) - at(from)) }),
            line: (value, from, to) => `M${from} ${at(value)}H${to}`,
        };
        marksOf(client, mark, place, chart, false);
    });
}

function tickText(view, ticks) {
    if (view === 'found') return value => `${value} %`;
    const digits = Math.max(0, ...ticks.map(value => (String(value).split('.')[1] ?? '').length));
    return view === 'price' ? value => value === 0 ? '0' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}` : value => value.toFixed(digits);
}

function eachClient(chart, paint) {
    const put = pen(chart.marks);
    chart.data.clients.forEach((client, k) => {
        const place = put(client.name, 'g', { class: chart.data.still ? 'client still' : 'client', role: chart.data.still ? 'img' : 'button', 'aria-label': linesOf(chart.data, client).join(', ') });
        place.client = client;
        const mark = pen(place);
        paint(client, mark, k);
        mark.rest();
    });
    put.rest();
}

/* -------------------------------------------------------------------- marks of one client */

function marksOf(client, mark, place, { data, range }, rows) {
    ({ gaps: gapMarks, found: foundMarks, price: priceMarks })[data.view](client, mark, { ...place, top: range[1] }, data, rows);
}

function gapMarks(client, mark, place, data, rows) {
    const { middle, start, step, dot: r } = place;
    if (client.asked < 1) {
        mark('band', 'rect', { class: 'allowed', ...place.bar(0, client.asked, start + step / 2, step) });
        mark('edge', 'path', { class: 'edge', d: place.line(client.asked, start, start + step) });
    }
    if (client.after === null) return cannot(mark, place, rows, data);
    const state = client.above ? 'above' : client.within ? 'within' : 'now';
    mark('stem', 'rect', { class: 'stem', ...place.bar(client.before, client.after, middle, rows ? 1.5 * r : 1.2 * r) });
    if (client.low !== null) {
        const ends = [client.low, client.high].filter(value => rows && value <= place.top); // no end where it goes on
        mark('interval', 'rect', { class: `between ${state}${rows ? '' : ' thin'}`, ...place.bar(client.low, client.high, middle, rows ? 1.6 : 1.2) });
        mark('ends', 'path', { class: `interval ${state}`, d: ends.map(value => place.line(value, middle - .8 * r, middle + .8 * r)).join('') });
    }
    spot(mark, 'was', 'was', place.point(client.before, middle), r - .5);
    spot(mark, 'now', state, place.point(client.after, middle), r);
}

/* A dot is drawn around the origin and moved, so that it glides. */
function spot(mark, key, kind, [x, y], r, colour) {
    const node = mark(key, 'path', { class: `dot ${kind}`, d: dot(kind, 0, 0, r) });
    node.style.transform = `translate(${x}px, ${y}px)`;
    if (colour) node.style.setProperty('--c', colour);
}

function cannot(mark, { point, middle }, rows, data) {
    const [x, y] = point(0, middle);
    mark('cannot', 'text', { class: 'tick', x: x + (rows ? 8 : 0), y: y + (rows ? 4 : -6), 'text-anchor': rows ? 'start' : 'middle', 'font-size': data.large ? 16 : 11 }, rows ? 'cannot be told' : '–');
}

function foundMarks(client, mark, place, data, rows) {
    const k = client.groups.length, apart = Math.min(place.step / (k + (rows ? 1.2 : .6)), rows ? 34 : 9);
    client.groups.forEach((own, g) => {
        if (own.after === null) return;
        const cross = place.middle + (g - (k - 1) / 2) * apart, colour = GROUPS[g % GROUPS.length], r = Math.min(place.dot, apart / 2.2);
        const [from, to] = [place.at(own.before), place.at(own.after)], way = Math.sign(to - from), head = r * 1.5;
        const stem = mark(`stem${g}`, 'rect', { class: 'stem of-group', ...place.bar(own.before, own.after, cross, Math.max(1.5, r * .6)) });
        stem.style.setProperty('--c', colour);
        if (Math.abs(to - from) > 3.2 * r) { // an arrow that points at where it ends
            const tip = to - way * r, base = tip - way * head, wing = head * .75;
            const arrow = mark(`arrow${g}`, 'path', { class: 'arrow', d: rows ? `M${tip} ${cross}L${base} ${cross - wing}V${cross + wing}Z` : `M${cross} ${tip}L${cross - wing} ${base}H${cross + wing}Z` });
            arrow.style.setProperty('--c', colour);
        }
        spot(mark, `was${g}`, 'was', place.point(own.before, cross), Math.max(r - .5, 2));
        spot(mark, `now${g}`, own.sure ? 'now' : 'within', place.point(own.after, cross), r, colour);
    });
}

function priceMarks(client, mark, place, data, rows) {
    if (client.points === null) return cannot(mark, place, rows, data);
    const thick = Math.min(.62 * place.step, rows ? 22 : 16), size = place.size, loses = client.points < 0;
    mark('bar', 'rect', { class: loses ? 'bar loses' : 'bar gains', ...place.bar(0, client.points, place.middle, thick) });
    const [x, y] = place.point(client.points, place.middle);
    if (rows) mark('value', 'text', { class: 'value', x: x + (loses ? -5 : 5), y: y + size * .36, 'text-anchor': loses ? 'end' : 'start', 'font-size': size }, signed(client.points));
}

/* -------------------------------------------------------------------- states as tiles */

function paintTiles(chart, { high, size, width, height }) {
    const { data } = chart, most = Math.min(high, .25), places = new Map(STATES), gap = 3;
    const w = width / 12, h = Math.min(height / 8, w);
    chart.scroll.style.height = `${height}px`;
    change(chart.svg, { width, height });
    change(chart.axis, { width: 0, height: 0 });
    pen(chart.back).rest();
    let spare = 2; // whoever is no state stands in the empty first line
    eachClient(chart, (client, mark) => {
        const [column, row] = places.get(client.name) ?? [spare++ % 11, 0], parts = mixed(SHADES, client.after === null ? 0 : client.after / most);
        const x = column * w + gap / 2, y = row * h + gap / 2;
        const two = h > 2.6 * size && w > 3 * size, fill = inkOn(parts);
        mark('tile', 'rect', { class: client.above ? 'tile above' : 'tile', x, y, width: w - gap, height: h - gap, rx: 4, fill: rgb(parts) });
        mark('name', 'text', { class: 'on-tile', fill, x: x + (w - gap) / 2, y: y + (h - gap) / 2 + (two ? -1 : size * .36), 'text-anchor': 'middle', 'font-size': size }, shortened(chart, client.name, size, w));
        if (two) mark('value', 'text', { class: 'on-tile small', fill, x: x + (w - gap) / 2, y: y + (h - gap) / 2 + size, 'text-anchor': 'middle', 'font-size': data.large ? 16 : size - 1 }, gapText(client.after));
        if (client.above) spot(mark, 'mark', 'above', two ? [x + w - gap - 7, y + 7] : [x + w - gap - 2, y + 2], two ? 4 : 3);
    });
}
