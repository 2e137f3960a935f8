// A photo on the bundled networks: dropped, chosen, or taken with the camera.
import { button, chooseFiles, html } from './dom.js';
import { _, parts } from './language.js';

const SECONDS = 120;
const EXPLORED = '.kuiper/build/explore.html'; // made again when asked for: it is not kept
const LARGEST = 1600; // pixels of the longer side: the networks see far fewer
const TASKS = {
  classify: { model: 'cifar_resnet20', text: () => _('What is it?') },
  detect: { model: 'digits_yolo', text: () => _('Where are digits?') },
};

/** The numbers of a rectangle, scaled. */
export const scaledBox = ([left, top, right, bottom], scale) => [left, top, right - left, bottom - top].map(x => x * scale);

export class PhotoView {
  constructor(node, app) {
    this.node = node;
    this.app = app;
    this.build();
  }

  build() {
    this.canvas = html('canvas', { hidden: true, role: 'img', 'aria-label': _('Your photo') });
    this.words = html('p', {}, _('Drop a photo here. It stays in your browser.'));
    this.drop = html('div', { class: 'drop' }, this.words, this.canvas, html('div', { class: 'actions' },
      button(_('Choose a photo'), () => this.choose()),
      button(_('Camera'), () => this.camera()),
      button(_('The cat of the course'), () => this.bundled('cat.jpg')),
      button(_('Some digits'), () => this.bundled('digits.png'))));
    this.answer = html('div', { class: 'answer', 'aria-live': 'polite' });
    this.tasks = html('div', { class: 'actions', hidden: true },
      Object.entries(TASKS).map(([name, { text }]) => button(text(), () => this.run(name), { class: 'primary' })),
      button(_('See how it works inside'), () => this.explore()));
    this.node.append(html('h2', {}, _('Your photo on the finished engine')), this.drop, this.tasks, this.answer);
    for (const kind of ['dragenter', 'dragover']) this.node.addEventListener(kind, event => this.over(event, true));
    for (const kind of ['dragleave', 'drop']) this.node.addEventListener(kind, event => this.over(event, false));
    this.node.addEventListener('drop', event => this.take(event.dataTransfer.files[0]));
    this.node.addEventListener('paste', event => this.take(event.clipboardData.files[0]));
  }

  over(event, isOver) {
    event.preventDefault();
    this.drop.classList.toggle('over', isOver);
  }

  async choose() {
    this.take((await chooseFiles('image/*'))[0]);
  }

  async bundled(name) {
    const response = await fetch(`photos/${name}`);
    this.take(await response.blob());
  }

  async take(blob) {
    if (!blob) return;
    try {
      this.show(await createImageBitmap(blob));
    } catch {
      this.answer.replaceChildren(html('p', { class: 'headline failing' }, _('This file is no picture that the browser can read.')));
    }
  }

  /** Draw a picture, no larger than needed; the networks get what is drawn. */
  show(picture) {
    const { width, height } = picture;
    const scale = Math.min(1, LARGEST / Math.max(width, height));
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.context.drawImage(picture, 0, 0, this.canvas.width, this.canvas.height);
    this.plain = this.context.getImageData(0, 0, this.canvas.width, this.canvas.height);
    this.canvas.hidden = this.tasks.hidden = false;
    this.words.hidden = true;
    this.answer.replaceChildren();
    this.isSent = false;
  }

  async camera() {
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
    } catch (error) {
      const why = error?.message ?? _('this address is not https');
      this.answer.replaceChildren(html('p', {}, _('The camera is not to be had ({why}): choose a photo instead.', { why })));
      return;
    }
    const video = html('video', { autoplay: true, playsinline: true, muted: true });
    video.srcObject = stream;
    const stop = () => {
      stream.getTracks().forEach(track => track.stop());
      frame.remove();
    };
    const frame = html('div', { class: 'camera' }, video, html('div', { class: 'actions' },
      button(_('Take it'), async () => {
        const picture = await createImageBitmap(video);
        stop();
        this.show(picture);
      }, { class: 'primary' }), button(_('Stop'), stop)));
    this.drop.append(frame);
  }

  /** Send the photo to Python, once. */
  async send(kernel) {
    if (this.isSent) return;
    this.context.putImageData(this.plain, 0, 0);
    const blob = await new Promise(resolve => this.canvas.toBlob(resolve, 'image/png'));
    await kernel.ask('save', { path: 'photos/mine.png', bytes: new Uint8Array(await blob.arrayBuffer()) });
    this.isSent = true;
  }

  get context() {
    return this.canvas.getContext('2d');
  }

  async command(words) {
    this.node.classList.add('is-running');
    this.answer.replaceChildren(html('p', { class: 'headline' }, _('The network computes …')));
    try {
      const kernel = this.app.kernel('lecture');
      await this.send(kernel);
      const value = await kernel.ask('command', { words }, { seconds: SECONDS });
      if (value.code !== 0) throw new Error(value.text.trim().split('\n').at(-1));
      return value.text;
    } catch (error) {
      this.answer.replaceChildren(html('p', { class: 'headline failing' }, error.message));
      return null;
    } finally {
      this.node.classList.remove('is-running');
    }
  }

  async run(task) {
    const text = await this.command([task, 'photos/mine.png', '--json']);
    if (text === null) return;
    this.task = task;
    const found = JSON.parse(text.slice(text.indexOf('{')));
    this.context.putImageData(this.plain, 0, 0);
    this.answer.replaceChildren(task === 'classify' ? this.classes(found.labels) : this.boxes(found));
  }

  classes(labels) {
    return html('ol', { class: 'bars' }, labels.map(({ label, probability }) => {
      const bar = html('span', { class: 'fill' });
      bar.style.width = `${100 * probability}%`;
      return html('li', {}, html('span', { class: 'name' }, label), html('span', { class: 'track' }, bar), html('span', {}, `${(100 * probability).toFixed(1)} %`));
    }));
  }

  boxes({ width, detections }) {
    const pen = this.context;
    const scale = this.canvas.width / width;
    pen.lineWidth = Math.max(2, this.canvas.width / 250);
    pen.font = `${Math.max(13, this.canvas.width / 32)}px sans-serif`;
    pen.strokeStyle = pen.fillStyle = '#e6007e';
    for (const { label, box } of detections) {
      const [x, y, w, h] = scaledBox(box, scale);
      pen.strokeRect(x, y, w, h);
      pen.fillText(label, x, y - pen.lineWidth * 2);
    }
    return html('p', { class: 'headline' }, detections.length ? _('{n} found: {labels}', { n: detections.length, labels: detections.map(found => found.label).join(' ') }) : _('No digits found.'));
  }

  /** The page of `kuiper explore` for this photo, in a tab of its own. */
  async explore() {
    const page = window.open('', '_blank'); // now, while this is still the reader's click
    page?.document.body.append(html('p', { style: 'font-family:sans-serif' }, _('kuiper explore: the network runs, and its numbers are collected …')));
    const { model } = TASKS[this.task ?? 'classify'];
    await this.app.kernel('lecture').ask('save', { path: EXPLORED, text: '' }); // its folder is there then
    const text = await this.command(['explore', model, 'photos/mine.png', '-o', EXPLORED]);
    if (text === null) return void page?.close();
    const value = await this.app.kernel('lecture').ask('read', { path: EXPLORED });
    const address = URL.createObjectURL(new Blob([value.text ?? value.bytes], { type: 'text/html' }));
    const link = html('a', { href: address, target: '_blank' }, _('Open the page'));
    this.answer.replaceChildren(html('p', { class: 'headline' }, parts('The network at work: {link}', { link })));
    if (page) page.location = address;
  }
}
