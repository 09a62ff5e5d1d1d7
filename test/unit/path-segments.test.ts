// Segments of the configuration are compared with encoded paths, so they are encoded at load.
import { expect, test } from 'vitest';
import { compileNormalization } from '../../src/config/compile-normalization.ts';

test('locales and default documents are put through the path encoder', () => {
  const normalization = {
    default_documents: ['über.html', '%7eindex'],
    locale_redirect: { default: 'über', locales: ['%c3%bcber', 'zh'] },
  };
  const compiled = compileNormalization({ global: { normalization } });
  expect(compiled.ok ? compiled.value.normalization : compiled.error).toMatchObject({
    defaultDocuments: ['%C3%BCber.html', '~index'],
    localeRedirect: { default: '%C3%BCber', locales: ['%C3%BCber', 'zh'] },
  });
});
