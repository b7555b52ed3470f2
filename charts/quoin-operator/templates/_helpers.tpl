{{/* Name of the Deployment and of what belongs to it: the same whatever the release is called. */}}
{{- define "quoin-operator.name" -}}
{{ .Values.fullnameOverride | default "quoin-operator" }}
{{- end }}

{{- define "quoin-operator.selector" -}}
app.kubernetes.io/name: quoin-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quoin-operator.labels" -}}
{{ include "quoin-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: quoin
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The same with labels of the user's, who cannot replace ours: of a list of what the chart knows, and those labels. */}}
{{- define "quoin-operator.labelsWith" -}}
{{- $ours := include "quoin-operator.labels" (first .) | fromYaml -}}
{{ mergeOverwrite (deepCopy (last .)) $ours | toYaml }}
{{- end }}

{{- define "quoin-operator.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "quoin-operator.name" .) }}
{{- end }}

{{/* Registry and name of the image, without tag. */}}
{{- define "quoin-operator.repository" -}}
{{- $registry := .Values.image.registry | default .Values.global.imageRegistry -}}
{{- if $registry }}{{ trimSuffix "/" $registry }}/{{ end }}{{ .Values.image.repository }}
{{- end }}

{{- define "quoin-operator.image" -}}
{{- with .Values.image -}}
{{ include "quoin-operator.repository" $ }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* What the operator may do in each namespace that it looks after: what it does, and no more. */}}
{{- define "quoin-operator.rules" -}}
- apiGroups: [quoin.dev]
  resources: [coordinationclusters]
  verbs: [get, list, watch, patch]
- apiGroups: [quoin.dev]
  resources: [coordinationclusters/status]
  verbs: [patch]
# Asked for by API servers that let nobody own objects for a cluster who may not change when that one is deleted.
- apiGroups: [quoin.dev]
  resources: [coordinationclusters/finalizers]
  verbs: [update]
# Backups are made by schedules, and removed when there are many.
- apiGroups: [quoin.dev]
  resources: [coordinationbackups]
  verbs: [get, list, watch, create, delete]
- apiGroups: [quoin.dev]
  resources: [coordinationbackupstores, coordinationbackupschedules]
  verbs: [get, list, watch]
- apiGroups: [quoin.dev]
  resources: [coordinationbackups/status, coordinationbackupstores/status, coordinationbackupschedules/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# Claims are made by the set, and pods, too, but for those that recover a lost quorum.
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [get, list, watch, create, patch]
# Of a Role the operator can give no right that it does not have itself: its members may read and label their own pods.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [get, list, watch, create, patch]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [monitoring.coreos.com]
  resources: [podmonitors, prometheusrules]
  verbs: [get, create, patch, delete]
- apiGroups: [cert-manager.io]
  resources: [certificates]
  verbs: [get, create, patch, delete]
# By name only: it can neither list them nor watch them.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
# Why a pod or a volume is not made, only events tell.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [list]
{{- end }}
