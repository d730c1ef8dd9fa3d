import { useQuery } from '@tanstack/react-query'
import { api } from '../api/http.ts'
import { siteUrl } from '../base.ts'

/** The picture of an account. Decoration: the name stands beside it. */
export function Avatar(props: { email: string; size?: number; url?: string | undefined }) {
  const { email, size = 32 } = props
  const { data } = useQuery({
    queryKey: ['avatar', email],
    queryFn: () => api.get<{ url: string }>(`api2/avatars/user/${encodeURIComponent(email)}/resized/128/`),
    enabled: props.url === undefined && email !== '',
    staleTime: 10 * 60_000,
  })
  // Only the path counts: the server may know itself by another name than the browser does.
  const source = props.url ?? data?.url
  const at =
    source === undefined ? 'media/avatars/default.png' : source.slice(source.indexOf('media/avatars/'))
  return <img className="avatar" src={siteUrl(at).href} alt="" width={size} height={size} loading="lazy" />
}
