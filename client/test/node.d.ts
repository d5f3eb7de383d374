/** What the tests use of node's own modules. */

declare module "node:test" {
  export function test(name: string, body: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  const assert: {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(action: () => unknown, expected?: RegExp | (new (message: string) => Error)): void;
  };
  export default assert;
}
