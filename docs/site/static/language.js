// The switch of language leads to the section that is being read.
function sectionBeingRead() {
    const above = [...document.querySelectorAll("article section[id]")].filter(
        (section) => section.getBoundingClientRect().top < innerHeight / 3,
    );
    const last = above.at(-1);
    return last && last.parentElement.closest("section") ? `#${last.id}` : "";
}

for (const link of document.querySelectorAll("a.language[data-same-page]"))
    for (const act of ["pointerdown", "focus", "click"])
        link.addEventListener(act, () => {
            link.hash = sectionBeingRead();
            link.search = location.search;
        });
