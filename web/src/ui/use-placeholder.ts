import { useEffect, useState } from 'react'

const MAX_KEPT = 2000

/** Decoded placeholders by thumbhash. */
const decoded = new Map<string, string>()

/** URL of the image that a thumbhash describes. Undefined while the decoder is loading, and for an invalid one. */
export function usePlaceholder(thumbhash: string | undefined): string | undefined {
  const [, setLoaded] = useState<string>()
  useEffect(() => {
    if (thumbhash === undefined || decoded.has(thumbhash)) return
    let isGone = false
    const show = async () => {
      await decode(thumbhash)
      if (!isGone) setLoaded(thumbhash)
    }
    void show()
    return () => {
      isGone = true
    }
  }, [thumbhash])
  return thumbhash === undefined ? undefined : decoded.get(thumbhash) || undefined
}

async function decode(thumbhash: string): Promise<void> {
  const { thumbHashToDataURL } = await import('thumbhash')
  const [oldest] = decoded.keys()
  if (decoded.size >= MAX_KEPT && oldest !== undefined) decoded.delete(oldest)
  try {
    decoded.set(thumbhash, thumbHashToDataURL(Uint8Array.from(atob(thumbhash), (one) => one.charCodeAt(0))))
  } catch {
    decoded.set(thumbhash, '')
  }
}
