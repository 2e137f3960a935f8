// The switch of language leads to the section that is being read: the one that was asked for, as long as it is in view,
// or else the last that begins above the first lines of the window.
const FIRST_LINES = 64;

function sectionBeingRead() {
    const sections = [...document.querySelectorAll("article section section[id]")];
    const top = (section) => section.getBoundingClientRect().top;
    const asked = sections.find((section) => `#${section.id}` === location.hash);
    const isInView = asked && top(asked) >= 0 && top(asked) < innerHeight;
    return isInView ? asked : sections.filter((section) => top(section) < FIRST_LINES).at(-1);
}

for (const link of document.querySelectorAll("a.language[data-same-page]"))
    for (const act of ["pointerdown", "focus", "click"])
        link.addEventListener(act, () => {
            link.hash = sectionBeingRead()?.id ?? "";
            link.search = location.search;
        });
