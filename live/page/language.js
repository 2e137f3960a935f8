// The reader's language: what the address asks for (?lang=zh), else what was chosen here, else what the browser prefers.
// Scripts and index.html are English; the course's table in another language brings the messages.
import '../../kuiper/language.js';

export const { _, many, parts, sayAll, use } = globalThis.kuiper.language;

const KEY = 'kuiper-live-language';
const ENGLISH = 'en';

/** Of the languages that are offered, the first of those that are wanted, as "zh-CN" or "zh"; English if there is none. */
export function chosen(wanted, offered) {
  const short = wanted.filter(Boolean).map(tag => tag.toLowerCase().split(/[-_]/)[0]);
  return short.find(name => offered.includes(name)) ?? ENGLISH;
}

/** The file that has the course in a language. */
export const tableOf = language => (language === ENGLISH ? 'course.json' : `course.${language}.json`);

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // no storage: the browser's own language
  }
}

async function fetched(language) {
  const response = await fetch(tableOf(language));
  if (!response.ok) throw new Error(`${tableOf(language)}: ${response.status}`);
  return { language, ...(await response.json()) };
}

/** Fetch the course in the reader's language, and speak it from now on. `select` offers the languages. Where it does not
  come, the course is English, and has `lacking`, the name of that language. */
export async function spokenCourse(select) {
  const asked = new URLSearchParams(location.search).get('lang');
  const wanted = chosen([asked, kept(), ...navigator.languages], Array.from(select.options, option => option.value));
  const course = await fetched(wanted).catch(error => {
    if (wanted === ENGLISH) throw error;
    return fetched(ENGLISH);
  });
  select.value = course.language;
  const named = language => Array.from(select.options).find(option => option.value === language);
  document.documentElement.lang = named(course.language).lang;
  use(course.messages ?? {});
  sayAll(document);
  return { ...course, lacking: wanted === course.language ? '' : named(wanted).text };
}

/** Let the reader choose: the page begins again, in that language. */
export function languageSwitch(select) {
  select.addEventListener('change', () => {
    try {
      localStorage.setItem(KEY, select.value);
    } catch { /* no storage: the address says it */ }
    const address = new URL(location.href);
    address.searchParams.delete('lang');
    if (kept() !== select.value) address.searchParams.set('lang', select.value);
    if (address.href === location.href) location.reload();
    else location.replace(address);
  });
}
