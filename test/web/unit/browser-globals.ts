/**
 * The few browser globals that modules of the web app read while they load, for tests in plain Node. Import this file
 * before the modules under test.
 */

class MemoryStorage {
  readonly #values = new Map<string, string>()
  get length(): number {
    return this.#values.size
  }
  key(index: number): string | null {
    return [...this.#values.keys()][index] ?? null
  }
  getItem(key: string): string | null {
    return this.#values.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.#values.set(key, value)
  }
  removeItem(key: string): void {
    this.#values.delete(key)
  }
}

Object.assign(globalThis, {
  document: { baseURI: 'http://carrel.example/', querySelector: () => null },
  addEventListener: () => undefined,
})
Object.defineProperty(globalThis, 'localStorage', { value: new MemoryStorage() })
Object.defineProperty(globalThis, 'sessionStorage', { value: new MemoryStorage() })
