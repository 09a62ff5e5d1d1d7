// Building blocks of the schemas. `title` is the noun a message uses ("must be a duration such as
// 30s"); `description` is what an editor shows. No map accepts a key that is not written down.
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** A map with exactly these keys, all optional unless `required` names them. */
export function section(
  properties: TProperties,
  description: string,
  required: string[] = [],
): TObject {
  const optional = Object.entries(properties).map(([key, schema]) => [
    key,
    required.includes(key) ? schema : Type.Optional(schema),
  ]);
  return Type.Object(Object.fromEntries(optional), { additionalProperties: false, description });
}

/** A map from names the user chooses. */
export function mapOf(value: TSchema, description: string): TSchema {
  return Type.Record(Type.String(), value, { title: 'a map', description });
}

export function oneOf(values: readonly (string | number)[], description: string): TSchema {
  return Type.Enum([...values], { description });
}

export function text(description: string): TSchema {
  return Type.String({ title: 'a text', description });
}

export function flag(description: string): TSchema {
  return Type.Boolean({ title: 'true or false', description });
}

export function count(description: string, minimum = 0, maximum = 2_147_483_647): TSchema {
  return Type.Integer({ title: 'a whole number', description, minimum, maximum });
}

export function duration(description: string): TSchema {
  return Type.Union([Type.String(), Type.Literal(0)], {
    title: 'a duration such as 30s',
    description,
    examples: ['500ms', '30s', '1h30m', '7d', '2w', 0],
  });
}

export function size(description: string): TSchema {
  return Type.Union([Type.String(), Type.Integer({ minimum: 0 })], {
    title: 'a size such as 20MiB',
    description,
    examples: ['512KiB', '10GiB'],
  });
}

export function listenAddress(description: string): TSchema {
  return Type.Union([Type.String(), Type.Integer({ minimum: 0, maximum: 65_535 })], {
    title: 'a listen address such as :8080',
    description,
    examples: [':8080', '127.0.0.1:8080', '[::1]:8080'],
  });
}

export function textList(description: string): TSchema {
  return Type.Array(Type.String({ title: 'a text' }), { title: 'a list of texts', description });
}

/** `name`, `na*me`, `~regexp`, `~*regexp`. */
export function patternList(description: string): TSchema {
  return Type.Array(Type.String({ title: 'a pattern' }), {
    title: 'a list of patterns',
    description,
  });
}

export function textOrList(description: string): TSchema {
  return Type.Union(
    [Type.String(), Type.Array(Type.String({ title: 'a text' }), { minItems: 1 })],
    {
      title: 'a text or a list of texts',
      description,
    },
  );
}

export function statusCodes(description: string): TSchema {
  return Type.Array(count('', 100, 599), { title: 'a list of status codes', description });
}
