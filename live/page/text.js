// A language model that writes while it is read.
import { button, html } from './dom.js';
import { _ } from './language.js';

const SECONDS = 300;

export class TextView {
  constructor(node, app) {
    this.app = app;
    this.node = node;
    this.prompt = html('input', { type: 'text', value: 'ROMEO:', 'aria-label': _('Beginning of the text') });
    this.model = html('select', { 'aria-label': _('Model') },
      html('option', { value: 'shakespeare' }, _('Shakespeare, letter by letter')), html('option', { value: 'tang' }, _('Tang poems')));
    this.model.addEventListener('change', () => (this.prompt.value = this.model.value === 'tang' ? '山' : 'ROMEO:'));
    this.write = button(_('Write'), () => this.run(), { class: 'primary' });
    this.paper = html('pre', { class: 'paper', 'aria-live': 'off', tabindex: '0', 'aria-label': _('The text') });
    this.pace = html('p', { class: 'facts', role: 'status' });
    const form = html('form', { class: 'actions' }, this.model, this.prompt, this.write);
    form.addEventListener('submit', event => {
      event.preventDefault();
      this.run();
    });
    node.append(html('h2', {}, _('A language model, as it writes')), form, this.paper, this.pace);
  }

  async run() {
    if (this.isRunning) return void this.app.kernel('lecture').end(_('Stopped by you.'));
    this.isRunning = true;
    this.write.textContent = _('Stop');
    this.paper.textContent = this.pace.textContent = '';
    const onEvent = event => {
      if (event.event !== 'output') return;
      (event.stream === 'stderr' ? this.pace : this.paper).append(event.text);
      this.paper.scrollTop = this.paper.scrollHeight;
    };
    const words = ['generate', '--model', this.model.value, '--max-tokens', '400', '--', this.prompt.value];
    try {
      const value = await this.app.kernel('lecture').ask('command', { words }, { seconds: SECONDS, onEvent });
      if (value.code !== 0) this.pace.textContent = value.text.trim().split('\n').at(-1);
    } catch (error) {
      this.pace.textContent = error.message;
    } finally {
      this.isRunning = false;
      this.write.textContent = _('Write');
    }
  }
}
