// How the admin listener says no: one shape, whatever was asked, for programs by its kind and for
// people by its message.

export interface AdminError {
  readonly error: { readonly kind: string; readonly message: string };
}

export function adminError(kind: string, message: string): AdminError {
  return { error: { kind, message } };
}
