// What the four applications share, and what an application's own router would do: routes of
// `/framework/<name>`, changed by history.pushState, and the data from the site's API.

const [, , framework] = location.pathname.split('/');
const home = `/framework/${framework}`;
const listeners = new Set();

/** The address, as views know it; the home page sends on to the list, without a load. */
export function readRoute() {
  if (location.pathname === home) history.pushState({}, '', `${home}/animals?page=1`);
  const [, , , , name = null] = location.pathname.split('/');
  return { name };
}

/** Calls back when the address changes; answers how to stop that. */
export function onRoute(listener) {
  const tell = () => listener(readRoute());
  listeners.add(tell);
  addEventListener('popstate', tell);
  return () => {
    listeners.delete(tell);
    removeEventListener('popstate', tell);
  };
}

/** Goes to an animal, or with null to the list. */
export function goTo(name) {
  history.pushState({}, '', pathOf(name));
  for (const tell of listeners) tell();
}

export function pathOf(name) {
  return name === null ? `${home}/animals` : `${home}/animals/${name}`;
}

export async function fetchAnimals() {
  const response = await fetch('/api/items');
  const { items } = await response.json();
  return items;
}
