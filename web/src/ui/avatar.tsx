import { useQuery } from '@tanstack/react-query'
import { UserRound } from 'lucide-react'
import type { CSSProperties } from 'react'
import { api } from '../api/http.ts'
import { siteUrl } from '../base.ts'

const HUES = 12

/**
 * The picture of an account, or its initials where there is none. Decoration: the name stands beside it, or is what
 * the button around it is called by.
 */
export function Avatar(props: {
  email: string
  name?: string | undefined
  size?: number
  url?: string | undefined
}) {
  const { email, size = 32 } = props
  const { data } = useQuery({
    queryKey: ['avatar', email],
    queryFn: () => api.get<{ url: string }>(`api2/avatars/user/${encodeURIComponent(email)}/resized/128/`),
    enabled: props.url === undefined && email !== '',
    staleTime: 10 * 60_000,
  })
  const source = props.url ?? data?.url
  if (source === undefined || source.endsWith('/default.png')) {
    const initials = initialsOf(props.name || email)
    const look = { '--hue': hueOf(email), width: size, height: size, fontSize: size * 0.4 } as CSSProperties
    return (
      <span className="avatar avatar-initials" style={look} aria-hidden>
        {initials === '' ? <UserRound size={size * 0.55} /> : initials}
      </span>
    )
  }
  // Only the path counts: the server may know itself by another name than the browser does.
  const at = source.slice(source.indexOf('media/avatars/'))
  return <img className="avatar" src={siteUrl(at).href} alt="" width={size} height={size} loading="lazy" />
}

/** The first letters of the first and the last word; of an address, its first letter. */
export function initialsOf(name: string): string {
  const words = name.includes('@') ? [name] : name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends.map((word) => [...(word ?? '')][0]?.toLocaleUpperCase() ?? '').join('')
}

/** The same account has the same colour everywhere. */
function hueOf(email: string): number {
  let sum = 0
  for (const sign of email) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 65_536
  return (sum % HUES) * (360 / HUES)
}
