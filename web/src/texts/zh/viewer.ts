import type { Texts } from '../en/index.ts'

export const viewer: Texts['viewer'] = {}
