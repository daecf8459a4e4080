// An informer of pods and nodes over a kubeconfig, which says on its output what it hears, until its input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func say(what, kind string, object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	found, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	fmt.Println(what, kind, found.GetName(), found.GetLabels()["seen"])
}

func main() {
	klog.InitFlags(nil)
	path := flag.String("kubeconfig", "", "the file that leads to the API server")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *path)
	if err != nil {
		panic(err)
	}
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"pod":  factory.Core().V1().Pods().Informer(),
		"node": factory.Core().V1().Nodes().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { say("add", kind, object) },
			UpdateFunc: func(_, object any) { say("update", kind, object) },
			DeleteFunc: func(object any) { say("delete", kind, object) },
		}); err != nil {
			panic(err)
		}
	}
	stop := make(chan struct{})
	factory.Start(stop)
	for _, synced := range factory.WaitForCacheSync(stop) {
		if !synced {
			panic("an informer has no list")
		}
	}
	fmt.Println("synced")
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(stop)
}
