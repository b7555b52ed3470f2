{{- define "quoin-operator.notes" -}}
The operator of Quoin {{ .Chart.AppVersion }} looks after CoordinationClusters in {{ if .Values.watchNamespaces }}{{ join ", " .Values.watchNamespaces }}{{ else }}all namespaces{{ end }}.

    kubectl --namespace {{ .Release.Namespace }} rollout status deployment/{{ include "quoin-operator.name" . }}
    kubectl apply -f - <<END
    apiVersion: quoin.dev/v1alpha1
    kind: CoordinationCluster
    metadata: {name: demo}
    spec: {replicas: 3}
    END
    kubectl wait qc/demo --for=condition=Ready --timeout=5m
{{- if .Values.crds.install }}
{{- if .Values.crds.keep }}

When this release is uninstalled, the definition stays, and so do all clusters and their data. A release with another name
takes the definition over with `helm install --take-ownership`, or leaves it alone with `--set crds.install=false`.
{{- else }}

WARNING: with crds.keep=false the definition goes when this release is uninstalled, and ALL clusters go with it.
{{- end }}
{{- else }}

This release does not install the definition: the operator is ready once it is there.
{{- end }}
{{- if and .Values.watchNamespaces .Values.crds.install }}

The definition is the one object of this release that belongs to no namespace; crds.install=false leaves it to others.
{{- end }}
{{- end }}
