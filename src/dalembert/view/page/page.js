
// Players where the page wants them; a line in every diagram over the time follows the replay, and a click there moves the replay.
(() => {
  const players = [...document.querySelectorAll(".player")].map(place =>
    place.player = new DalembertPlayer(place, JSON.parse(document.getElementById("data-" + place.dataset.scene).textContent)));
  const spans = [...document.querySelectorAll(".span")];
  document.addEventListener("dalembert-time", e => {
    for (const span of spans) {
      const first = +span.dataset.first, last = +span.dataset.last, part = (e.detail - first) / (last - first);
      span.firstChild.style.left = `${100 * part}%`; span.firstChild.style.opacity = part >= 0 && part <= 1 && players.length ? 0.55 : 0;
    }
  });
  for (const span of spans) span.addEventListener("click", e => {
    const box = span.getBoundingClientRect(), first = +span.dataset.first, last = +span.dataset.last;
    for (const player of players) player.seek(first + (last - first) * (e.clientX - box.left) / box.width);
  });
})();
