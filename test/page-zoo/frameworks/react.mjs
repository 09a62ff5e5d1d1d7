// The zoo as a React application: hooks, a list with keys, a style sheet that React hoists into the
// head.
import { createElement as h, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { fetchAnimals, goTo, onRoute, pathOf, readRoute } from './site.mjs';

function App() {
  const [route, setRoute] = useState(readRoute);
  const [animals, setAnimals] = useState(null);
  useEffect(() => onRoute(setRoute), []);
  useEffect(() => {
    void fetchAnimals().then(setAnimals);
  }, []);
  if (animals === null) return h('p', null, 'loading');
  return route.name === null ? h(List, { animals }) : h(Animal, { name: route.name });
}

function List({ animals }) {
  const items = animals.map((name) => h('li', { key: name }, h(Link, { name }, name)));
  return h(
    'main',
    null,
    h('style', { href: 'animals', precedence: 'default' }, '.animals { color: teal; }'),
    h('title', null, 'Animals by React'),
    animals.length > 2 && h('p', null, 'quite a few'),
    h('ul', { className: 'animals' }, items),
  );
}

function Animal({ name }) {
  useEffect(() => {
    document.title = name;
  }, [name]);
  return h('main', null, h('h1', null, name), h(Link, { name: null }, 'back'));
}

function Link({ name, children }) {
  const onClick = (event) => {
    event.preventDefault();
    goTo(name);
  };
  return h('a', { href: pathOf(name), onClick }, children);
}

createRoot(document.getElementById('app')).render(h(App));
