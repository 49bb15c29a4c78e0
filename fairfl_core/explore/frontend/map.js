/* The accuracy of every pair of limits: where one stands, what was kept, and a way to go elsewhere.
   emit('go', [x, y]) after a click, a finished drag, or Enter on a cell. */
function drawMap(root, data, emit) {
    const chart = chartOf(root, buildMap, paintMap);
    Object.assign(chart, { data, emit });
    if (!chart.dragging) chart.want = null;
    paintMap(chart);
    return chart.close;
}

function buildMap(chart) {
    const [head, stage, alone, tip, live] = [element('div', 'head'), element('div', 'stage field'), element('div', 'alone'), element('div', 'tip'), element('div', 'unseen')];
    const svg = document.createElementNS(SVG, 'svg');
    const parts = {};
    for (const name of ['cells', 'back', 'front']) {
        parts[name] = svg.appendChild(document.createElementNS(SVG, 'g'));
        change(parts[name], { class: name });
    }
    change(stage, { tabindex: 0, role: 'application', 'aria-label': 'Map of limits: arrow keys choose a cell, Enter goes there' });
    change(live, { 'aria-live': 'polite' });
    change(svg, { role: 'img' });
    stage.append(svg);
    chart.box.append(head, stage, alone, tip, live);

    const cellAt = event => {
        const { left, top, width, height, n } = chart.frame, box = svg.getBoundingClientRect();
        const index = share => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
        return [index((event.clientX - box.left - left) / width), n - 1 - index((event.clientY - box.top - top) / height)];
    };
    const follow = event => {
        const cell = cellAt(event), box = chart.box.getBoundingClientRect();
        showTip(chart, cellLines(chart.data, cell), event.clientX - box.left, event.clientY - box.top);
        return cell;
    };
    const go = cell => {
        const { here, still } = chart.data;
        if (still) return;
        chart.want = cell;
        paintPlaces(chart);
        if (cell[0] !== here[0] || cell[1] !== here[1]) chart.emit('go', cell);
    };
    stage.onpointerdown = event => {
        if (event.button || chart.data.still) return;
        chart.dragging = true;
        chart.cursor = null;
        stage.setPointerCapture(event.pointerId);
        chart.want = follow(event);
        paintPlaces(chart);
    };
    stage.onpointermove = event => {
        const cell = follow(event);
        if (chart.dragging) { chart.want = cell; paintPlaces(chart); }
    };
    stage.onpointerup = event => {
        if (!chart.dragging) return;
        chart.dragging = false;
        go(cellAt(event));
    };
    stage.onpointercancel = () => { chart.dragging = false; chart.want = null; hideTip(chart); paintPlaces(chart); };
    stage.onpointerleave = () => hideTip(chart);
    stage.onkeydown = event => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
        const n = chart.data.limits.length, cursor = chart.cursor ?? chart.data.here.map(Math.round);
        if (step) chart.cursor = cursor.map((at, k) => Math.min(n - 1, Math.max(0, at + step[k])));
        else if (event.key === 'Enter' || event.key === ' ') { chart.cursor = cursor; go(cursor); }
        else if (event.key === 'Escape') chart.cursor = null;
        else return;
        event.preventDefault();
        event.stopPropagation();
        const lines = chart.cursor ? cellLines(chart.data, chart.cursor) : [];
        live.textContent = lines.join(', ');
        paintPlaces(chart);
        if (!chart.cursor) return hideTip(chart);
        const { x, y } = chart.frame;
        showTip(chart, lines, x(chart.cursor[0] + .5) + stage.offsetLeft, y(chart.cursor[1] + .5) + stage.offsetTop);
    };
    stage.onblur = () => { chart.cursor = null; hideTip(chart); paintPlaces(chart); };
    return { head, stage, alone, tip, svg, ...parts };
}

function cellLines({ accuracy, limits, noun }, [x, y]) {
    const value = accuracy[y][x];
    const asked = limit => limit >= 1 ? 'no limit' : limitText(limit);
    return [value === null ? 'not possible' : `${percent(value)} right`, `overall: ${asked(limits[x])}`, `in each ${noun}: ${asked(limits[y])}`];
}

function paintMap(chart) {
    if (chart.stage.clientWidth < 1) return; // not on the screen yet, or no longer
    const { data, stage, svg } = chart, n = data.limits.length, size = textSize(data.large, stage.clientWidth, 640);
    chart.box.style.fontSize = `${size}px`;
    legend(chart, chart.head, !data.title ? [] : [
        ['title', data.title],
        ...(data.note ? [['text', data.note]] : []),
        ...(data.free.length ? [['free', 'free of cost']] : []),
        ['scale', [percent(data.low), percent(data.high)], CIVIDIS],
    ]);
    paintAlone(chart);
    chart.width = stage.clientWidth;
    chart.height = stage.clientHeight;
    change(svg, { width: chart.width, height: chart.height, 'aria-label': data.spoken });
    const texts = data.limits.map(limitText), widest = Math.max(...texts.map(text => textWidth(chart, text, size)));
    const left = Math.ceil(size + 12 + widest + 7), top = Math.ceil(size / 2), bottom = Math.ceil(2 * size + 16), right = Math.ceil(Math.max(2, textWidth(chart, 'none', size) / 2 - (chart.width - left) / n / 2));
    const width = Math.max(chart.width - left - right, 40), height = Math.max(chart.height - top - bottom, 40);
    const x = at => Math.round(left + at * width / n), y = at => Math.round(top + height - at * height / n);
    chart.frame = { left, top, width, height, n, x, y };

    const drawn = JSON.stringify([data.accuracy, data.low, data.high, width, height, left]);
    if (chart.drawn !== drawn) { // else only the places on it have changed
        chart.drawn = drawn;
        const put = pen(chart.cells);
        data.accuracy.forEach((row, j) => row.forEach((value, i) => put(`${i} ${j}`, 'rect', {
            x: x(i), y: y(j + 1), width: x(i + 1) - x(i), height: y(j) - y(j + 1),
            class: value === null ? 'impossible' : 'cell',
            fill: value === null ? '' : rgb(mixed(CIVIDIS, (value - data.low) / (data.high - data.low || 1))),
        })));
        put.rest();
    }
    const put = pen(chart.back);
    const ticks = (room, extent) => {
        const step = Math.max(1, Math.ceil(room / (extent / n)));
        return data.limits.map((_, at) => at).filter(at => at === n - 1 || (at % step === 0 && at + step <= n - 1));
    };
    for (const at of ticks(widest + 10, width)) put(`x${at}`, 'text', { class: 'tick', x: x(at + .5), y: top + height + size + 4, 'text-anchor': 'middle', 'font-size': size }, texts[at]);
    for (const at of ticks(size * 1.6, height)) put(`y${at}`, 'text', { class: 'tick', x: left - 7, y: y(at + .5) + size * .36, 'text-anchor': 'end', 'font-size': size }, texts[at]);
    const title = { class: 'tick', 'text-anchor': 'middle', 'font-size': size };
    put('x', 'text', { ...title, x: left + width / 2, y: top + height + 2 * size + 10 }, 'gap allowed overall, ε₀');
    const inside = shortened(chart, `gap allowed in each ${data.noun}, εc`, size, chart.height);
    const half = textWidth(chart, inside, size) / 2, middle = Math.min(Math.max(top + height / 2, half), chart.height - half);
    put('y', 'text', { ...title, transform: `translate(${size} ${middle}) rotate(-90)` }, inside);
    const path = data.free.map(([x0, y0, x1, y1]) => `M${x(x0)} ${y(y0)}L${x(x1)} ${y(y1)}`).join('');
    put('halo', 'path', { class: 'free halo', d: path });
    put('free', 'path', { class: 'free on-map', d: path });
    put.rest();
    paintPlaces(chart);
}

/* Where one stands, what was kept, and where the keyboard points. */
function paintPlaces(chart) {
    const { data, frame: { left, top, width, height, x, y } } = chart, put = pen(chart.front), size = data.large ? 16 : 11;
    const [i, j] = chart.want ?? data.here, [cx, cy] = [x(i + .5), y(j + .5)], r = data.large ? 12 : 9;
    if (!data.still) put('h', 'rect', { class: 'hair', x: left, y: cy - .5, width, height: 1 });
    if (!data.still) put('v', 'rect', { class: 'hair', x: cx - .5, y: top, width: 1, height });
    for (const [letter, a, b] of data.kept) {
        put(`o${letter}`, 'circle', { class: 'kept', cx: x(a + .5), cy: y(b + .5), r });
        put(`t${letter}`, 'text', { class: 'letter', x: x(a + .5), y: y(b + .5) + size * .36, 'text-anchor': 'middle', 'font-size': size }, letter);
    }
    if (chart.cursor) {
        const [a, b] = chart.cursor;
        put('cursor', 'rect', { class: 'cursor', x: x(a) - 1, y: y(b + 1) - 1, width: x(a + 1) - x(a) + 2, height: y(b) - y(b + 1) + 2 });
    }
    if (data.still) return put.rest();
    const place = put('here', 'g', { class: 'here' });
    place.style.transform = `translate(${cx}px, ${cy}px)`;
    const cross = pen(place), d = `M${-r} 0H${r}M0 ${-r}V${r}`;
    cross('rim', 'path', { class: 'rim', d });
    cross('core', 'path', { class: 'core', d });
    put.rest();
}

function paintAlone({ alone, data }) {
    const said = JSON.stringify(data.alone);
    if (alone.said === said) return;
    alone.said = said;
    const known = data.alone.filter(([, points]) => points !== null);
    const most = Math.max(2, ...known.map(([, points]) => Math.abs(points)));
    alone.replaceChildren(...(known.length ? [element('span', 'word', 'alone:')] : []), ...known.map(([name, points]) => {
        const item = element('span', 'item', name), bar = element('i', points < 0 ? 'price' : 'price gain');
        bar.style.width = `${Math.max(2, Math.round(64 * Math.abs(points) / most))}px`;
        item.append(element('b', '', signed(points)), bar);
        return item;
    }));
}
