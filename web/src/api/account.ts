import { useQuery } from '@tanstack/react-query'
import { api } from './http.ts'

export interface AccountInfo {
  readonly email: string
  readonly name: string
  readonly contact_email: string
  readonly login_id: string
  readonly department: string
  readonly institution: string
  readonly is_staff: boolean
  /** Bytes; `total` is negative where nothing bounds it. */
  readonly usage: number
  readonly total: number
  readonly space_usage: string
  readonly avatar_url: string
}

/** Who is signed in, and the space they use. */
export function useAccount() {
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.get<AccountInfo>('api2/account/info/', undefined, signal),
    staleTime: 30_000,
  })
}
