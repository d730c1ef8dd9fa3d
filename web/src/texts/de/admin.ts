import type { Texts } from '../en/index.ts'

export const admin: Texts['admin'] = {}
