/* Where the visitor stands on a chart.

The chart is not drawn anew for it: figure.js puts the cross where it is told to, now and whenever
it draws. */

export default function ({ data, parentElement }) {
    (globalThis.fairflMarks ??= new Map()).set(data.on, data);
    document.querySelector(`.st-key-${data.on} .fairfl-chart`)?.dispatchEvent(new Event('mark'));
    parentElement.dataset.marked = `${data.x},${data.y}`;
}
