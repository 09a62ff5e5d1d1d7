// The zoo as elements by Lit: templates, reactive properties, open shadow roots inside each other,
// adopted style sheets.
import { css, html, LitElement, nothing } from 'lit';
import { fetchAnimals, goTo, onRoute, pathOf, readRoute } from './site.mjs';

class AnimalLink extends LitElement {
  static properties = { name: { type: String } };
  static styles = css`
    a {
      color: teal;
    }
  `;

  render() {
    const follow = (event) => this.follow(event);
    return html`<a href=${pathOf(this.name)} @click=${follow}><slot></slot></a>`;
  }

  follow(event) {
    event.preventDefault();
    goTo(this.name);
  }
}

class AnimalPages extends LitElement {
  static properties = { route: { state: true }, animals: { state: true } };
  static styles = css`
    :host {
      display: block;
    }
    ul {
      list-style: none;
    }
  `;

  constructor() {
    super();
    this.route = readRoute();
    this.animals = null;
  }

  connectedCallback() {
    super.connectedCallback();
    this.stop = onRoute((route) => {
      this.route = route;
    });
    void fetchAnimals().then((animals) => {
      this.animals = animals;
    });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop();
  }

  render() {
    if (this.animals === null) return html`<p>loading</p>`;
    const { name } = this.route;
    if (name !== null) return html`<h1>${name}</h1><animal-link .name=${null}>back</animal-link>`;
    return html`${this.animals.length > 2 ? html`<p>quite a few</p>` : nothing}
      <ul class="animals">${this.animals.map((each) => this.renderItem(each))}</ul>`;
  }

  renderItem(name) {
    return html`<li><animal-link .name=${name}>${name}</animal-link></li>`;
  }
}

customElements.define('animal-link', AnimalLink);
customElements.define('animal-pages', AnimalPages);
document.getElementById('app').replaceChildren(document.createElement('animal-pages'));
