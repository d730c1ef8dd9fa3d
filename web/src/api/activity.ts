import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from './http.ts'

const ACTIVITIES_PER_PAGE = 100
const NOTIFICATIONS_PER_PAGE = 20

/** Activity feed, newest first. Live events invalidate it. */
export function useActivities(author: string) {
  return useInfiniteQuery({
    queryKey: ['activities', author],
    queryFn: async ({ pageParam, signal }) => {
      const query = { page: pageParam, per_page: ACTIVITIES_PER_PAGE, op_user: author || undefined }
      return (await api.get('api/v2.1/activities/', query, signal)).events
    },
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.length === ACTIVITIES_PER_PAGE ? pages.length + 1 : undefined),
  })
}

/** Number of unseen notifications. */
export function useUnseen() {
  return useQuery({
    queryKey: ['notifications', 'unseen'],
    queryFn: async ({ signal }) => (await api.get('api2/unseen_messages/', undefined, signal)).count,
  })
}

export function useNotifications() {
  return useInfiniteQuery({
    queryKey: ['notifications', 'list'],
    queryFn: ({ pageParam, signal }) =>
      api.get('api/v2.1/notifications/', { page: pageParam, per_page: NOTIFICATIONS_PER_PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ count }, pages) =>
      pages.length * NOTIFICATIONS_PER_PAGE < count ? pages.length + 1 : undefined,
  })
}

/** Marks one notification as seen, or all of them. */
export function useMarkSeen() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: number | 'all') =>
      id === 'all'
        ? api.put('api/v2.1/notifications/')
        : api.put('api/v2.1/notification/', { form: { notice_id: id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['notifications'] }),
  })
}
