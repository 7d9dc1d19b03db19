// A mistake in the data: what is wrong, and what was expected or what to do.
export class SceneError extends Error {
  constructor(
    message: string,
    readonly hint = '',
  ) {
    super(message);
  }
}
