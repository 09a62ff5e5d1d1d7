// The named errors of normalization, spec: url-and-key. On the wire each is a 400 with that name.

export type UrlErrorKind =
  | 'control_char'
  | 'too_long'
  | 'too_many_params'
  | 'unsupported_scheme'
  | 'missing_host'
  | 'credentials'
  | 'invalid_host'
  | 'invalid_port';
