// Takes the files of one page away, and with the last page that had a body its content file.
import { rm } from 'node:fs/promises';
import type { BodyRef } from '../../pipeline/ports.ts';
import { bodyPath, CODINGS } from './body-path.ts';
import { dropLooseContent, findLastContent } from './content-files.ts';
import { isMissing } from './file-error.ts';
import type { FileDeps } from './write-body-files.ts';

/** Removes all codings; says whether there was one. */
export async function removeBodyFiles(ref: BodyRef, { pages, hasher }: FileDeps): Promise<boolean> {
  const left = await findLastContent(bodyPath(pages, ref, 'identity'), ref.hostId, hasher);
  let wasThere = false;
  for (const coding of CODINGS) {
    try {
      await rm(bodyPath(pages, ref, coding), { recursive: true });
      wasThere = true;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  if (left !== null) await dropLooseContent(pages, left);
  return wasThere;
}
