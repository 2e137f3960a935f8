// The service worker: what has been opened once works without a network.
import { _ } from './language.js';
import { notice } from './notices.js';

const PATIENCE = 4000; // milliseconds until the page goes on without it; what is loaded then is kept at the next visit

/** Resolve when what this page loads is kept; at once where the browser has no service workers. */
export async function startOffline() {
  if (!navigator.serviceWorker) return;
  let isFirst = !navigator.serviceWorker.controller;
  const controlled = new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (!isFirst) sayNewCourse();
    isFirst = false;
    resolve();
  }));
  try {
    const registration = await navigator.serviceWorker.register('service_worker.js');
    if (!isFirst) registration.update().catch(() => {}); // no network: the version that is here goes on
  } catch (error) {
    console.info(`offline use is off: ${error.message}`); // http without https, or a private window: all else works
    return;
  }
  if (isFirst) await Promise.race([controlled, new Promise(resolve => setTimeout(resolve, PATIENCE))]);
}

/** Another version of the course has come while this page was open. */
function sayNewCourse() {
  notice('version', _('There is a new version of the course; your work is kept.'), { actions: [[_('Load it'), () => location.reload()]] });
}

/** Fetch all that the course in a language can need. */
export async function keepAll(language) {
  const worker = navigator.serviceWorker?.controller;
  if (!worker) return notice('offline', _('This browser keeps no pages here: use an address that begins with https.'), { kind: 'problem' });
  navigator.serviceWorker.onmessage = ({ data }) => {
    if (data.kept === undefined) return;
    if (data.problem) notice('offline', _('Not everything could be fetched: {why}.', { why: data.problem }), { kind: 'problem' });
    else if (data.kept < data.all) notice('offline', _('Fetching the course: {kept} of {all} files.', data));
    else notice('offline', _('The whole course is here: it works without a network.'));
  };
  worker.postMessage({ keep: language });
}
