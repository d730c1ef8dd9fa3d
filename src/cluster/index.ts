export { ClusterNode } from './cluster-node.ts'
export { agreeOn, listLiveNodes, replaceAgreed } from './node-store.ts'
export { liveNodeRelation } from './relations.ts'
