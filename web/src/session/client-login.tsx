import { useEffect } from 'react'
import { token } from '../api/index.ts'
import { appBase } from '../site-url.ts'
import { Waiting } from '../ui/index.ts'
import { ownAddress } from './own-address.ts'
import { signInByClient } from './session.tsx'

/**
 * Signs this tab in with the one-time token of a client, which is in the fragment of the URL, and opens the requested page. A session of this
 * browser stays as it is. If the token is invalid, the page asks for the password.
 */
export default function ClientLogin() {
  useEffect(() => {
    const next = ownAddress(new URLSearchParams(location.search).get('next')) ?? `${appBase}/`
    void openPage(location.hash.slice(1), next)
  }, [])
  return <Waiting />
}

async function openPage(given: string, next: string): Promise<void> {
  try {
    if (token() === undefined) await signInByClient(given)
  } catch {
    // Expired or used: the page asks for the password.
  }
  // Replaced, so that the used token is not in the history.
  location.replace(next)
}
