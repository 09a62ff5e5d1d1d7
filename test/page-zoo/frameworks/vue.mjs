// The zoo as a Vue application: refs, computed values, a watcher, a style sheet teleported into the
// head.
import { computed, createApp, h, onMounted, onUnmounted, ref, Teleport, watchEffect } from 'vue';
import { fetchAnimals, goTo, onRoute, pathOf, readRoute } from './site.mjs';

const STYLE = '.animals { color: teal; }';

const Link = {
  props: { name: { type: String, default: null } },
  setup(props, { slots }) {
    const onClick = (event) => {
      event.preventDefault();
      goTo(props.name);
    };
    return () => h('a', { href: pathOf(props.name), onClick }, slots.default());
  },
};

const App = {
  setup() {
    const route = ref(readRoute());
    const animals = ref([]);
    const isMany = computed(() => animals.value.length > 2);
    watchEffect(() => {
      document.title = route.value.name ?? 'Animals by Vue';
    });
    onMounted(async () => {
      onUnmounted(onRoute((next) => (route.value = next)));
      animals.value = await fetchAnimals();
    });
    const list = () => [
      h(Teleport, { to: 'head' }, h('style', STYLE)),
      isMany.value ? h('p', 'quite a few') : h('p', 'loading'),
      h(
        'ul',
        { class: ['animals', { many: isMany.value }] },
        animals.value.map((name) =>
          h(
            'li',
            { key: name },
            h(Link, { name }, () => name),
          ),
        ),
      ),
    ];
    const animal = (name) => [h('h1', name), h(Link, null, () => 'back')];
    return () => h('main', route.value.name === null ? list() : animal(route.value.name));
  },
};

createApp(App).mount('#app');
