// What the demo shop sells: made from two short lists, so the same in every run.
export interface Product {
  readonly slug: string;
  readonly name: string;
  readonly color: string;
  readonly size: string;
  readonly priceCents: number;
}

export interface Selection {
  readonly color: string | null;
  readonly size: string | null;
  readonly sort: string | null;
  /** From 1. */
  readonly page: number;
}

export const COLORS = ['blue', 'green', 'red', 'white'] as const;
export const SIZES = ['s', 'm', 'l'] as const;
const KINDS = ['Teapot', 'Cup', 'Kettle', 'Tray', 'Café set', 'Über-Mug'] as const;
const PAGE_ITEMS = 12;

/** Every product, in shop order. */
export const PRODUCTS: readonly Product[] = KINDS.flatMap((kind, kindIndex) =>
  COLORS.flatMap((color, colorIndex) =>
    SIZES.map((size, sizeIndex) => ({
      slug: `${slugify(kind)}-${color}-${size}`,
      name: `${kind}, ${color}, ${size.toUpperCase()}`,
      color,
      size,
      priceCents: 900 + kindIndex * 700 + sizeIndex * 250 + colorIndex * 10,
    })),
  ),
);

/** One page of the products that fit, and how many pages there are. */
export function selectProducts(selection: Selection): {
  readonly items: readonly Product[];
  readonly pages: number;
} {
  const { color, size, sort, page } = selection;
  const fitting = PRODUCTS.filter(
    (product) =>
      (color === null || product.color === color) && (size === null || product.size === size),
  );
  const sorted = sort === 'price' ? fitting.sort((a, b) => a.priceCents - b.priceCents) : fitting;
  const start = (page - 1) * PAGE_ITEMS;
  return {
    items: sorted.slice(start, start + PAGE_ITEMS),
    pages: Math.max(1, Math.ceil(fitting.length / PAGE_ITEMS)),
  };
}

/** `$12.50` */
export function formatPrice(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

function slugify(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
}
