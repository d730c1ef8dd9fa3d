export { ClusterNode, type NodeState } from './cluster-node.ts'
export { registerClusterMetrics } from './metrics.ts'
export {
  agreeOn,
  deleteAgreed,
  findAgreed,
  listLiveNodes,
  listOlderNodes,
  replaceAgreed,
} from './node-store.ts'
export { liveNodeRelation } from './relations.ts'
