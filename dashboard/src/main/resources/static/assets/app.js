// What pages do in the browser: copy, ask before dangerous steps, send a form once, refuse too large files early, draw the charts.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  const done = () => { button.textContent = "Copied"; };
  if (navigator.clipboard && window.isSecureContext) {
    navigator.clipboard.writeText(text).then(done, () => select(button.dataset.copy));
  } else {
    select(button.dataset.copy);
    if (document.execCommand("copy")) done();
  }
});

function select(id) {
  const range = document.createRange();
  range.selectNodeContents(document.getElementById(id));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent || (form.dataset.confirm && !confirm(form.dataset.confirm))) event.preventDefault();
  else if (form.method === "post") form.dataset.sent = "true";
});

// The browser's Back may show the page as it was left.
addEventListener("pageshow", () => document.querySelectorAll("[data-sent]").forEach((form) => { delete form.dataset.sent; }));

document.addEventListener("change", (event) => {
  const input = event.target;
  if (input.type !== "file") return;
  const tooLarge = input.files.length > 0 && input.files[0].size > 1000000;
  input.setCustomValidity(tooLarge ? "This file has more than 1 MB. A credential has a few kilobytes." : "");
  input.reportValidity();
});

// Parts of a page refresh themselves. A note says when one of them is out of date, because old figures look like new ones.
const outOfDate = new Set();

function refreshed(part, successful) {
  if (successful) outOfDate.delete(part); else outOfDate.add(part);
  const stale = document.getElementById("stale");
  if (stale) stale.hidden = outOfDate.size === 0;
}

document.addEventListener("htmx:afterRequest", (event) => refreshed(event.detail.pathInfo.requestPath, event.detail.successful));

const holder = document.getElementById("charts");
if (holder) charts(holder);

function charts(holder) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const soft = colour("--soft");
  const line = colour("--line");
  const reds = [colour("--bad"), "#e07b39", "#c9a227", "#a05195", "#5b8def", soft];
  const time = (text) => new Date(text).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false, timeZone: "UTC" });
  const options = (stacked) => ({
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "index", intersect: false },
    scales: {
      x: { stacked, ticks: { color: soft, maxTicksLimit: innerWidth < 600 ? 5 : 8, maxRotation: 0 }, grid: { display: false }, border: { color: line } },
      y: { stacked, beginAtZero: true, suggestedMax: 4, ticks: { color: soft, precision: 0, maxTicksLimit: 5 }, grid: { color: line }, border: { display: false } },
    },
    plugins: { legend: { position: "bottom", labels: { color: soft, boxWidth: 10, boxHeight: 10, usePointStyle: true } } },
  });
  const curve = (label, data, name, fill) => ({
    label, data, borderColor: colour(name), backgroundColor: colour(fill), fill: true,
    borderWidth: 2, pointRadius: 0, pointHoverRadius: 4, cubicInterpolationMode: "monotone",
    segment: { borderDash: (at) => (at.p1DataIndex === data.length - 1 ? [3, 3] : undefined) }, // still counting
  });
  const flow = new Chart(document.getElementById("flow"), { type: "line", data: { labels: [], datasets: [] }, options: options(false) });
  const failures = new Chart(document.getElementById("failures"), { type: "bar", data: { labels: [], datasets: [] }, options: options(true) });
  const nothing = document.getElementById("no-failures");

  async function refresh() {
    if (document.hidden) return;
    try {
      const answer = await fetch(holder.dataset.url, { headers: { Accept: "application/json", "HX-Request": "true" } });
      if (answer.status === 401 || answer.status === 403) { location.reload(); return; }
      if (!answer.ok) throw new Error(String(answer.status));
      draw(await answer.json());
      holder.dataset.drawn = "true";
      refreshed(holder.id, true);
    } catch {
      refreshed(holder.id, false);
    }
  }

  function draw(figures) {
    const labels = figures.starts.map(time);
    flow.data.labels = labels;
    if (flow.data.datasets.length === 0) {
      flow.data.datasets = [
        curve("Accepted", figures.accepted, "--accent", "--accent-soft"),
        curve("Delivered", figures.delivered, "--good", "--good-soft"),
      ];
      flow.data.datasets.forEach((set) => { set.backgroundColor += "88"; });
    } else {
      flow.data.datasets[0].data = figures.accepted;
      flow.data.datasets[1].data = figures.delivered;
    }
    flow.update();
    failures.data.labels = labels;
    failures.data.datasets = figures.failed.map((reason, i) => ({
      label: reason.reason + " (" + reason.total + ")", data: reason.counts, backgroundColor: reds[i % reds.length], borderRadius: 2,
    }));
    nothing.hidden = figures.failed.length > 0;
    failures.update();
  }

  refresh();
  setInterval(refresh, 5000);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
}
