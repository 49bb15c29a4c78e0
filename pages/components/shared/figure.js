/* A Plotly figure, drawn in place.

Streamlit's own chart is thrown away whenever one number in it changes, and its successor is drawn
three times over. Here a figure that changes is redrawn once, where it stands; what is out of sight
waits until what is in sight has been drawn, and what is far from it until it comes near. Colours and letters are those of Streamlit's theme. */

let library;

function plotly(source) {
    library ??= load(source).catch(error => { library = undefined; throw error; });
    return library;
}

/* Four megabytes: kept by the browser where it may, for the server marks them as nobody's. */
async function load(source) {
    const kept = await globalThis.caches?.open('plotly').catch(() => undefined);
    let reply = await kept?.match(source);
    if (!reply) {
        reply = await fetch(source);
        if (!reply.ok) throw new Error(`${source}: ${reply.status}`);
        for (const old of await kept?.keys() ?? []) await kept.delete(old);
        await kept?.put(source, reply.clone()).catch(() => undefined);
    }
    const script = document.createElement('script');
    script.src = URL.createObjectURL(await reply.blob());
    await new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = () => reject(new Error(source));
        document.head.append(script);
    });
    return window.Plotly;
}

export default function ({ data, parentElement, setTriggerValue }) {
    const chart = parentElement.querySelector('.fairfl-chart') ?? made(parentElement);
    const asked = JSON.stringify([data.spec, palette(chart)]);
    if (chart.asked !== asked) {
        Object.assign(chart, { asked, setTriggerValue, next: data });
        chart.dataset.drawn = ''; // not yet
        chart.ariaLabel = data.spoken;
        chart.classList.toggle('fairfl-stretched', data.stretch);
        if (chart.watched && chart.far) chart.dataset.waits = 'yes'; else draw(chart);
    }
    return () => { if (!chart.isConnected) forget(chart); };
}

async function draw(chart) {
    const { asked, next } = chart;
    delete chart.dataset.waits;
    const Plotly = await plotly(next.library);
    if (!chart.watched && !inSight(chart)) await new Promise(resolve => setTimeout(resolve));
    if (chart.asked !== asked || !chart.isConnected) return; // a later one is on its way
    const { data: traces, layout } = JSON.parse(next.spec);
    chart.ownHeight = layout.height;
    Object.assign(layout, size(chart), { template: template(palette(chart)) });
    const words = wording(traces, layout);
    if (words === chart.words) layout.margin = margins(chart, layout);
    // Told once: a config told again has buttons of its own, so that Plotly would begin anew, twice.
    await Plotly.react(chart, traces, layout, chart.watched ? undefined : config(chart, next.config));
    Object.assign(chart, { words, widest: layout.yaxis?.ticktext && widest(layout) });
    if (!chart.watched) watch(chart, Plotly);
    finish(chart);
    chart.dataset.drawn = performance.now();
}

function made(parent) {
    const chart = document.createElement('div');
    chart.className = 'fairfl-chart';
    chart.role = 'figure';
    parent.append(chart);
    nearness.observe(chart);
    return chart;
}

function forget(chart) {
    nearness.unobserve(chart);
    chart.watched?.disconnect();
    window.Plotly?.purge(chart);
}

/* A chart that stands more than a screen away is drawn anew when it comes nearer, or for paper. */
const nearness = new IntersectionObserver(seen => {
    for (const { target: chart, isIntersecting } of seen) {
        chart.far = !isIntersecting;
        if (isIntersecting && chart.dataset.waits) draw(chart);
    }
}, { rootMargin: '100% 0px', scrollMargin: '100% 0px' });

addEventListener('beforeprint', () => document.querySelectorAll('.fairfl-chart[data-waits]').forEach(draw));

function inSight(chart) {
    const { top, bottom } = chart.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
}

function size(chart) {
    const full = document.fullscreenElement === chart;
    const stretched = full || chart.classList.contains('fairfl-stretched');
    return { width: chart.clientWidth, height: stretched ? chart.clientHeight : chart.ownHeight ?? 450 };
}

/* Plotly finds the room that words need around a figure by drawing it twice. Once it has, the room
is known as long as all words but those beside the rows are the same; those are measured here.
Unknown where an axis beside the rows writes numbers. */
function wording(traces, layout) {
    const axes = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
    if (!layout.yaxis?.ticktext || axes.length > 2) return Symbol();
    return JSON.stringify([
        layout.width, layout.height, layout.font, layout.template,
        axes.map(([, axis]) => [axis.title, axis !== layout.yaxis && axis.ticktext]),
        traces.map(trace => [trace.name, trace.showlegend]),
    ]);
}

const pen = document.createElement('canvas').getContext('2d');

function widest({ yaxis, template }) {
    const { font } = template.layout;
    pen.font = `${yaxis.tickfont?.size ?? font.size}px ${font.family}`;
    const lines = yaxis.ticktext.flatMap(text => text.split('<br>'));
    return Math.max(0, ...lines.map(line => pen.measureText(line).width));
}

function margins(chart, layout) {
    const { l, r, t, b } = chart._fullLayout._size, { pad } = chart._fullLayout.margin;
    const more = widest(layout) - chart.widest;
    return { l: Math.round(l + more), r, t, b, pad, autoexpand: false };
}

/* A point that is clicked is told by what it carries; another width is another drawing. */
function watch(chart, Plotly) {
    chart.on('plotly_click', ({ points }) => {
        const told = points.map(point => point.customdata).filter(Boolean).at(-1);
        if (told) chart.setTriggerValue('clicked', Array.from(Object.values(told)));
    });
    chart.watched = new ResizeObserver(() => {
        const now = size(chart), { width, height } = chart.layout;
        const other = now.width !== width || now.height !== height;
        if (other && now.width > 0 && chart.isConnected && !matchMedia('print').matches) {
            Plotly.relayout(chart, now).then(() => finish(chart));
        }
    });
    chart.watched.observe(chart);
    chart.addEventListener('mark', () => mark(chart));
}

function finish(chart) {
    scalable(chart);
    mark(chart);
}

/* A cross as Plotly draws it, where mark.js was told; it lets clicks through. */
function mark(chart) {
    chart.querySelector('.fairfl-mark')?.remove();
    const [, place] = [...globalThis.fairflMarks ?? []].find(([on]) => chart.closest(`.st-key-${on}`)) ?? [];
    if (!place) return;
    const { xaxis, yaxis } = chart._fullLayout;
    const cross = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    cross.classList.add('fairfl-mark');
    cross.setAttribute('d', 'M9.6,3.2H3.2V9.6H-3.2V3.2H-9.6V-3.2H-3.2V-9.6H3.2V-3.2H9.6Z');
    cross.setAttribute('transform',
        `translate(${xaxis._offset + xaxis.l2p(place.x)},${yaxis._offset + yaxis.l2p(place.y)})`);
    chart.querySelector('.main-svg').append(cross);
}

/* Paper is narrower than the window, and nothing is drawn anew for it: the picture shrinks (style.css). */
function scalable(chart) {
    const { width, height } = chart._fullLayout;
    for (const svg of chart.querySelectorAll('.main-svg')) svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
}

function config(chart, given) {
    const fullscreen = {
        name: 'Fullscreen',
        title: 'Fullscreen',
        icon: window.Plotly.Icons.autoscale,
        click: () => document.fullscreenElement ? document.exitFullscreen() : chart.requestFullscreen(),
    };
    return { ...given, modeBarButtonsToAdd: [fullscreen] };
}

/* -------------------------------------------------------------------- the theme */

function palette(chart) {
    const style = getComputedStyle(chart), of = name => style.getPropertyValue(`--st-${name}`).trim();
    const paper = of('background-color');
    const dark = !/^#[89a-f]/i.test(paper);
    return {
        paper, line: of('border-color'), heading: of('heading-color'), font: of('font'),
        words: dark ? '#e6eaf1' : '#525866', strong: dark ? '#fafafa' : '#262730',
        grid: dark ? '#31333f' : '#e6eaf1', colorway: of('chart-categorical-colors').split(','),
    };
}

function template({ paper, line, heading, font, words, strong, grid, colorway }) {
    const small = { color: words, size: 12 }, middle = { color: words, size: 14 };
    const axis = {
        gridcolor: grid, zerolinecolor: grid, tickcolor: grid, tickfont: small, automargin: true,
        ticklabeloverflow: 'allow', // else every label is measured
    };
    return {
        data: { scatter: [{ marker: { line: { width: 0 } } }] },
        layout: {
            colorway,
            font: { ...small, family: font, weight: 400 },
            title: { font: { family: font, size: 16, color: heading }, pad: { l: 4 }, xanchor: 'left', x: 0 },
            legend: {
                title: { font: small, side: 'top' }, valign: 'top', borderwidth: 0,
                font: { size: 12, color: strong },
            },
            paper_bgcolor: paper, plot_bgcolor: paper,
            xaxis: { ...axis, showgrid: false, zeroline: false, title: { font: middle, standoff: 20 } },
            yaxis: { ...axis, ticklabelposition: 'outside', title: { font: middle, standoff: 24 } },
            margin: { pad: 8, r: 0, l: 0 },
            hoverlabel: { bgcolor: paper, bordercolor: line, font: { ...small, family: font } },
        },
    };
}
