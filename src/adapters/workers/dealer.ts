// Connections are dealt to the workers by turns, to those that took their last one first. Until a
// worker says that it took a connection, it has read nothing of it, so when it dies the connection
// goes to the next one instead of dying with it; while nobody is there to take it, it waits.
import type { Socket } from 'node:net';

/** A place at the table: one worker. */
export interface Seat {
  readonly accepted: (id: number) => void;
  /** Gets no more; what it was given it still takes. */
  readonly retire: () => void;
  /** It is gone. */
  readonly leave: () => void;
}

export type Give = (port: string, id: number, socket: Socket) => void;

export interface Dealer {
  readonly deal: (port: string, socket: Socket) => void;
  readonly seat: (give: Give) => Seat;
  /** Drops what waits. */
  readonly close: () => void;
}

interface Card {
  readonly port: string;
  readonly socket: Socket;
}

interface Place {
  readonly give: Give;
  /** Given and not taken yet. */
  readonly given: Map<number, Card>;
}

/** @param waitingMax connections beyond it are closed */
export function createDealer(waitingMax: number): Dealer {
  const free = new Set<Place>();
  const waiting: Card[] = [];
  let lastId = 0;

  const dealOn = (): void => {
    for (const place of free) {
      const card = waiting.shift();
      if (card === undefined) return;
      lastId += 1;
      free.delete(place);
      place.given.set(lastId, card);
      place.give(card.port, lastId, card.socket);
    }
  };

  return {
    deal: (port, socket) => {
      if (waiting.length >= waitingMax) {
        socket.destroy();
        return;
      }
      waiting.push({ port, socket });
      dealOn();
    },
    seat: (give) => {
      const place: Place = { give, given: new Map() };
      let isOpen = true;
      const retire = (): void => {
        isOpen = false;
        free.delete(place);
      };
      free.add(place);
      dealOn();
      return {
        accepted: (id) => {
          // The worker has a copy of its own; this one only keeps the connection from ending.
          place.given.get(id)?.socket.destroy();
          place.given.delete(id);
          if (isOpen) free.add(place);
          dealOn();
        },
        retire,
        leave: () => {
          retire();
          waiting.unshift(...place.given.values());
          place.given.clear();
          dealOn();
        },
      };
    },
    close: () => {
      for (const { socket } of waiting.splice(0)) socket.destroy();
    },
  };
}
