import { useQuery } from '@tanstack/react-query'
import { UserRound } from 'lucide-react'
import type { CSSProperties } from 'react'
import { api } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { hueOf, initialsOf } from './initials.ts'

/**
 * The picture of an account, or its initials. Decorative, because the name is next to it or is the label of the
 * button around it.
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
    queryFn: () => api.get(`api2/avatars/user/${encodeURIComponent(email)}/resized/128/`),
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
  // Rebased, because the server may know itself by another name.
  const at = source.slice(source.indexOf('media/avatars/'))
  return <img className="avatar" src={siteUrl(at).href} alt="" width={size} height={size} loading="lazy" />
}
