// SPDX-License-Identifier: MIT
// Filters of the report page; put into it by requirement_report.py.  The state is in the
// address after "#?", so that a link shows what its sender saw.
"use strict";
(() => {
	const form = document.getElementById("filters");
	const list = document.getElementById("list");
	const count = document.getElementById("count");
	const tests = Array.from(list.children);
	const place = new Map(tests.map((test, index) => [test, index]));
	const texts = new Map();
	const names = ["text", "row", "kernel", "driver", "backend", "result", "errno", "order"];

	const field = (name) => form.elements.namedItem(name);
	const has = (words, word) => word === "" || words.split(" ").includes(word);
	// A test that needs no guest, or no driver, counts for every one.
	const fits = (own, wanted) => wanted === "" || own === "" || own === wanted;

	function text(test) {
		if (!texts.has(test))
			texts.set(test, test.textContent.toLowerCase());
		return texts.get(test);
	}

	function matches(test, wanted) {
		const own = test.dataset;
		return has(own.rows, wanted.row) && has(own.errnos, wanted.errno) &&
			fits(own.kernel, wanted.kernel) && fits(own.driver, wanted.driver) &&
			fits(own.backend, wanted.backend) &&
			(wanted.result === "" || own.result === wanted.result) &&
			wanted.text.toLowerCase().split(/\s+/).every((word) => text(test).includes(word));
	}

	const orders = {
		"": (a, b) => place.get(a) - place.get(b),
		slowest: (a, b) => Number(b.dataset.seconds) - Number(a.dataset.seconds),
		name: (a, b) => (a.dataset.name < b.dataset.name ? -1 : 1),
	};

	let order = "";

	function show() {
		const wanted = Object.fromEntries(names.map((name) => [name, field(name).value]));
		let shown = 0;
		for (const test of tests) {
			test.hidden = !matches(test, wanted);
			shown += test.hidden ? 0 : 1;
		}
		if (wanted.order !== order)
			list.append(...tests.sort(orders[wanted.order]));
		order = wanted.order;
		count.textContent = shown === tests.length ? `${shown} tests` : `${shown} of ${tests.length} tests`;
		return wanted;
	}

	function remember() {
		const given = Object.entries(show()).filter((entry) => entry[1] !== "");
		history.replaceState(null, "", "#?" + new URLSearchParams(given));
	}

	function recall() {
		if (!location.hash.startsWith("#?"))
			return;
		const given = new URLSearchParams(location.hash.slice(2));
		for (const name of names)
			field(name).value = given.get(name) ?? "";
		show();
		document.getElementById("tests").scrollIntoView();
	}

	form.addEventListener("input", remember);
	form.addEventListener("submit", (event) => event.preventDefault());
	form.addEventListener("reset", () => setTimeout(remember));
	window.addEventListener("hashchange", recall);
	// What led to the failure is at the end of the timeline.
	list.addEventListener("toggle", (event) => {
		for (const part of event.target.querySelectorAll(".scroll"))
			part.scrollLeft = part.scrollWidth;
		for (const part of event.target.querySelectorAll(".records"))
			part.scrollTop = part.scrollHeight;
	}, true);
	recall();
})();
