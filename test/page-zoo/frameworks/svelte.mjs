// The zoo as a Svelte application; its components are compiled when the zoo is built.
import { mount } from 'svelte';
import AnimalPages from './animal-pages.svelte';

mount(AnimalPages, { target: document.getElementById('app') });
