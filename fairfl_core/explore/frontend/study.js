/* The Explore screen as a file: every pair of limits was solved before. All data become text nodes. */
async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), sign => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return JSON.parse(await new Response(stream).text());
}

function open(study) {
    const { limits } = study.map, n = limits.length;
    const nearest = limit => limits.reduce((best, one, at) => Math.abs(one - limit) < Math.abs(limits[best] - limit) ? at : best, 0);
    const [x, y] = study.map.here.map(Math.round);
    const state = { x, y, picture: null, label: null, client: null };
    const cell = () => study.cells[state.y * n + state.x];
    const main = document.getElementById('screen');
    main.replaceChildren(); // the sentence for those who cannot draw it
    const places = build(study, main);
    const go = (x, y) => { Object.assign(state, { x, y }); paint(); };

    const paint = () => {
        const here = cell();
        state.picture ??= here ? here.opens : null;
        paintSliders(places, study, state);
        paintWords(places, here);
        paintPictures(places, study, state, here, go, paint);
        paintDetails(places, study, state, here);
        document.documentElement.dataset.at = `${state.x} ${state.y}`; // what is shown, for those who look on
    };
    places.overall.input.oninput = event => go(Number(event.target.value), state.y);
    places.inside.input.oninput = event => go(state.x, Number(event.target.value));
    for (const [button, name] of places.pictures) button.onclick = () => { state.picture = name; paint(); };
    places.label.onchange = event => { state.label = event.target.value; paint(); };
    for (const [button, limitsOf] of places.options) button.onclick = () => go(...limitsOf.map(nearest));

    let playing = null;
    const stop = () => { clearInterval(playing); playing = null; places.play.textContent = '▶'; };
    places.play.onclick = () => {
        if (playing) return stop();
        const left = study.sweep.map(nearest);
        const next = () => left.length ? go(state.x, left.shift()) : stop();
        places.play.textContent = '■';
        playing = setInterval(next, 800);
        next();
    };
    paint();
}

/* -------------------------------------------------------------------- what stands where */

function build(study, main) {
    const put = (parent, tag, cls = '', text = '') => parent.appendChild(element(tag, cls, text));
    const slider = (parent, title) => {
        const place = put(parent, 'label', 'slider'), head = put(place, 'span', '', title), value = put(head, 'b');
        const input = put(place, 'input');
        Object.assign(input, { type: 'range', min: 0, max: study.map.limits.length - 1, step: 1 });
        input.setAttribute('aria-label', title);
        return { input, value };
    };
    const chip = parent => {
        const place = put(parent, 'details', 'chip');
        return { head: put(place, 'summary'), body: put(place, 'div') };
    };
    const button = (parent, text) => Object.assign(put(parent, 'button', '', text), { type: 'button' });
    const top = put(main, 'div', 'row');
    put(top, 'h1', '', study.title);
    const [verdict, harm] = [chip(top), chip(top)];
    const options = study.options.map(([letter, title, ...limits]) => {
        const one = button(top, letter);
        one.title = title;
        return [one, limits];
    });
    const controls = put(main, 'div', 'two'), sliders = put(controls, 'div', 'row');
    const overall = slider(sliders, 'Gap allowed overall, ε₀'), inside = slider(sliders, `Gap allowed in each ${study.noun}, εc`);
    const play = button(sliders, '▶');
    play.title = 'Watch the limit tighten, from none to zero';
    play.setAttribute('aria-label', play.title);
    const numbers = put(controls, 'div', 'numbers'), sentence = put(main, 'p', 'sentence');
    sentence.setAttribute('aria-live', 'polite');
    const both = put(main, 'div', 'two pictures');
    const map = put(both, 'div', 'picture'), right = put(both, 'div', 'picture clients'), views = put(right, 'div', 'row');
    const pictures = study.pictures.map(([name, title]) => [button(views, title), name]);
    const label = put(views, 'select');
    label.setAttribute('aria-label', 'Label');
    const first = study.cells.find(Boolean);
    for (const name of Object.keys(first.found)) put(label, 'option', '', name).value = name;
    const chart = put(right, 'div', 'chart'), client = put(main, 'section'), table = put(main, 'details');
    put(table, 'summary', '', 'Table');
    const rows = put(put(table, 'div', 'wide'), 'table');
    if (study.options.length) {
        put(main, 'h2', '', 'Kept for Compare');
        const list = put(main, 'dl');
        for (const [letter, title] of study.options) { put(list, 'dt', '', letter); put(list, 'dd', '', title); }
    }
    for (const [title, pairs] of [['What it rests on', study.rests], ['Words', study.words]]) {
        if (!pairs.length) continue;
        put(main, 'h2', '', title);
        const list = put(main, 'dl');
        for (const [name, value] of pairs) { put(list, 'dt', '', name); put(list, 'dd', '', value); }
    }
    put(main, 'p', 'made', `${study.made} Every pair of limits was solved before; this file asks nothing of any server.`);
    return { verdict, harm, options, overall, inside, play, numbers, sentence, map, pictures, label, chart, client, rows };
}

function paintSliders({ overall, inside }, { map: { limits } }, { x, y }) {
    for (const [{ input, value }, at] of [[overall, x], [inside, y]]) {
        if (Number(input.value) !== at) input.value = at;
        value.textContent = limitText(limits[at]);
        input.setAttribute('aria-valuetext', limits[at] >= 1 ? 'no limit' : limitText(limits[at]));
    }
}

const COLLIDES = 'These limits collide with the floors: no answer keeps both.';

function paintWords({ verdict, harm, numbers, sentence }, here) {
    sentence.textContent = here ? here.sentence : COLLIDES;
    const chip = ({ head, body }, [colour, word, lines]) => {
        head.className = colour;
        head.textContent = word;
        body.replaceChildren(...[lines].flat().map(line => element('p', '', line)));
    };
    chip(verdict, here ? here.verdict : ['gray', 'collides', COLLIDES]);
    chip(harm, here ? here.harm : ['gray', '–', COLLIDES]);
    numbers.replaceChildren(...(here ? here.numbers : []).map(([label, was, now, note, tone, tip]) => {
        const place = element('div');
        place.title = tip;
        place.append(element('span', '', label), ...(was ? [element('em', '', was)] : []), element('b', '', now), element('small', tone, note || '\u00a0'));
        return place;
    }));
}

/* The data of the clients' picture, as the app's component takes them. */
function pictureOf(here, picture, label) {
    if (picture === 'found') return here.found[label];
    return picture === 'price' ? here.price : { ...here.gaps, view: picture };
}

function paintPictures(places, study, state, here, go, paint) {
    const { x, y } = state, [inside] = study.alone[y], [, overall] = study.alone[x];
    drawMap(places.map, { ...study.map, here: [x, y], alone: [inside, overall], spoken: study.spoken[y][x] }, (_, cell) => go(...cell));
    for (const [button, name] of places.pictures) button.setAttribute('aria-pressed', String(name === state.picture));
    state.label ??= places.label.value;
    places.label.hidden = state.picture !== 'found' || places.label.options.length < 3;
    places.chart.hidden = !here;
    if (here) drawClients(places.chart, pictureOf(here, state.picture, state.label), (_, name) => { state.client = name; paint(); });
}

function paintDetails({ client, rows }, study, state, here) {
    const data = here && pictureOf(here, state.picture, state.label);
    const lines = data ? data.clients.map(one => linesOf(data, one)) : [];
    rows.replaceChildren(...lines.map(([name, ...texts]) => {
        const row = element('tr');
        row.append(element('th', '', name), ...texts.map(cell => element('td', '', cell)));
        return row;
    }));
    client.replaceChildren();
    if (!here || state.client === null) return;
    const views = ['gaps', 'price', ...Object.keys(here.found).map(label => ['found', label])];
    const texts = views.flatMap(view => {
        const own = pictureOf(here, ...[view].flat()), mine = own.clients.find(one => one.name === state.client);
        return mine ? linesOf(own, mine).slice(1).map(line => own.view === 'found' ? `${own.label} found, ${line}` : line) : [];
    });
    client.append(element('h2', '', state.client), ...texts.map(line => element('div', '', line)));
}

unpacked(document.getElementById('study').textContent).then(open);
