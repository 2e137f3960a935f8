'use strict';
// The page: the key if the server has one, the list of models, and what is shown of one of them.
(kuiper => {
  const { find, html } = kuiper.dom;
  const { _ } = kuiper.language;
  const KEPT = 'kuiper.key'; // in this tab

  class App {
    constructor() {
      this.server = new kuiper.events.Server();
      this.server.key = sessionStorage.getItem(KEPT) ?? '';
      this.talk = new kuiper.Talk(this.server);
      this.costs = new kuiper.Costs(this.server);
      find('door').addEventListener('submit', event => {
        event.preventDefault();
        this.server.key = find('key').value.trim();
        this.enter(true);
      });
      find('model').addEventListener('change', event => this.choose(event.target.value));
    }

    /** Show the models, or ask for the key. */
    async enter(isTold = false) {
      try {
        const answer = await (await this.server.ask('v1/models')).json();
        this.models = answer.data.filter(model => model.kuiper);
      } catch (error) {
        this.stayOut(error, isTold);
        return;
      }
      if (!this.models.length) {
        this.stayOut(new Error(_('This server has no language model, and the others have no page.')), false);
        return;
      }
      sessionStorage.setItem(KEPT, this.server.key);
      find('door').hidden = true;
      find('main').hidden = find('models').hidden = false;
      find('model').replaceChildren(...this.models.map(model => html('option', { value: model.id }, model.id)));
      this.choose(this.models[0].id);
    }

    /** Say what is wrong; of a key that is missing only if one was given. */
    stayOut(error, isTold) {
      const isLocked = error.status === 401;
      find('door').hidden = false;
      find('lock').hidden = !isLocked && !isTold;
      find('refused').textContent = isTold || !isLocked ? error.message : '';
      find('key').focus();
    }

    choose(id) {
      const model = this.models.find(each => each.id === id);
      this.talk.begin(model);
      this.costs.watch(model);
    }
  }

  kuiper.app = new App();
  kuiper.app.enter();
})((globalThis.kuiper ??= {}));
