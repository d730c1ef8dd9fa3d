import type { Texts } from '../en/index.ts'

export const sharing: Texts['sharing'] = {}
