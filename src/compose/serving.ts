// What stands in front of the clients, as the process that leads a gateway sees it: listeners of
// its own, or worker processes.
import type { ConfigCopy } from '../config/config-reader.ts';
import type { Config, Settings } from '../config/settings.ts';

export interface Addresses {
  /** Of every public listener, as they are announced. */
  readonly listen: readonly string[];
  readonly port: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
}

export type RestartResult =
  | { readonly isDone: true; readonly replaced: number }
  | { readonly isDone: false; readonly reason: string };

export interface Serving {
  readonly addresses: Addresses;
  /** What the processes that serve were started with: what is built once counts as it was then. */
  readonly settingsAtStart: () => Settings;
  /** `ok`, or why no request is taken. */
  readonly accepting: () => string;
  /** Everyone who serves takes this configuration; throws when nobody did. */
  readonly change: (config: Config, copy: ConfigCopy) => Promise<void>;
  /**
   * Others take the place of the processes that serve, and no request is lost; null: this process
   * is alone.
   */
  readonly restart: (() => Promise<RestartResult>) | null;
  /** The text for a scraper. */
  readonly renderMetrics: () => Promise<string>;
  /** Lets open requests end. */
  readonly stop: () => Promise<void>;
}
