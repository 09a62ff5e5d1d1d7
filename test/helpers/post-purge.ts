// `POST /purge` of a gateway, as an operator's script sends it.

export interface PurgeAnswer {
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

export async function postPurge(adminPort: number, order: unknown): Promise<PurgeAnswer> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  return { status: response.status, answer: (await response.json()) as PurgeAnswer['answer'] };
}
