export { Carrel, signIn } from './client.ts'
export { CarrelError } from './errors.ts'
export type { Entry, Library, State } from './types.ts'
